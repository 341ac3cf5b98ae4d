/** A shape in a box of 16: p = path, c = circle (x, y, radius), r = rounded box (x, y, width, height, radius). Upper
 * case is filled instead of drawn. */
export type Shape =
  | ["p" | "P", string]
  | ["c" | "C", number, number, number]
  | ["r", number, number, number, number, number];

const shieldPath = "M8 2 13 3.8v3.9c0 3-2.1 5.2-5 6.3-2.9-1.1-5-3.3-5-6.3V3.8z";

export const icons = {
  sidebar: [
    ["r", 2, 3, 12, 10, 2],
    ["p", "M6.5 3v10"],
  ],
  panel: [
    ["r", 2, 3, 12, 10, 2],
    ["p", "M9.5 3v10"],
  ],
  search: [
    ["c", 7, 7, 4.2],
    ["p", "m10.2 10.2 3.3 3.3"],
  ],
  history: [
    ["c", 8, 8, 5.5],
    ["p", "M8 5v3.2l2.2 1.3"],
  ],
  plus: [["p", "M8 3.2v9.6M3.2 8h9.6"]],
  close: [["p", "m4.2 4.2 7.6 7.6M11.8 4.2l-7.6 7.6"]],
  sliders: [
    ["p", "M2.5 5h6.2M12.3 5h1.2M2.5 11h1.2M7.3 11h6.2"],
    ["c", 10.5, 5, 1.8],
    ["c", 5.5, 11, 1.8],
  ],
  terminal: [
    ["r", 2, 3, 12, 10, 2],
    ["p", "m4.8 6.2 1.9 1.8-1.9 1.8M8.6 10h2.6"],
  ],
  refresh: [["p", "M13 7.4A5.1 5.1 0 0 0 3.8 5.2M3 8.6a5.1 5.1 0 0 0 9.2 2.2M3.6 2.6v2.8h2.8M12.4 13.4v-2.8H9.6"]],
  down: [["p", "m3.8 6 4.2 4.2L12.2 6"]],
  right: [["p", "m6 3.8 4.2 4.2L6 12.2"]],
  eye: [
    ["p", "M1.8 8S4 4 8 4s6.2 4 6.2 4S12 12 8 12 1.8 8 1.8 8z"],
    ["c", 8, 8, 1.7],
  ],
  apply: [["p", "M8 2.5v7M4.8 6.6 8 9.6l3.2-3M3 12.8h10"]],
  branch: [
    ["c", 4.5, 3.8, 1.5],
    ["c", 4.5, 12.2, 1.5],
    ["c", 11.5, 5.4, 1.5],
    ["p", "M4.5 5.3v5.4M11.5 6.9c0 2.4-2.2 2.6-4.2 2.8-1.4.1-2.8.4-2.8 1"],
  ],
  globe: [
    ["c", 8, 8, 5.5],
    ["p", "M2.5 8h11M8 2.5c3.2 3.4 3.2 7.6 0 11-3.2-3.4-3.2-7.6 0-11z"],
  ],
  queue: [["p", "M2.5 4h11M2.5 8h7M2.5 12h7M12 9.2v4M10.2 11.4 12 13.2l1.8-1.8"]],
  more: [
    ["C", 3.5, 8, 1.1],
    ["C", 8, 8, 1.1],
    ["C", 12.5, 8, 1.1],
  ],
  prompt: [
    ["p", "M2.5 3.5h11v7.4H7l-3 2.4v-2.4H2.5z"],
    ["p", "M5.2 6h5.6M5.2 8.4h3.4"],
  ],
  folder: [["p", "M2 4.2h4.3l1.4 1.6H14v6.9H2z"]],
  file: [
    ["p", "M4 2.5h5l3 3v8H4z"],
    ["p", "M9 2.5v3h3"],
  ],
  plug: [["p", "M5.8 2.5v3M10.2 2.5v3M4 5.5h8v2.2a4 4 0 0 1-8 0zM8 11.7v1.8"]],
  check: [["p", "m3.4 8.4 3 3 6.2-6.8"]],
  info: [
    ["c", 8, 8, 5.7],
    ["p", "M8 7.4v3.4"],
    ["C", 8, 5.1, 0.85],
  ],
  warning: [
    ["p", "M8 2.8 14 13H2z"],
    ["p", "M8 6.6v3"],
    ["C", 8, 11.2, 0.8],
  ],
  sun: [
    ["c", 8, 8, 2.8],
    ["p", "M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M3.6 12.4l1-1M11.4 4.6l1-1"],
  ],
  person: [
    ["c", 8, 5.4, 2.6],
    ["p", "M3 13.4c.5-2.7 2.3-4 5-4s4.5 1.3 5 4"],
  ],
  copy: [
    ["r", 5.5, 5.5, 8, 8, 1.5],
    ["p", "M3.8 10.5h-.3a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v.3"],
  ],
  working: [
    ["p", "M8 2.6A5.4 5.4 0 1 1 2.6 8"],
    ["C", 8, 8, 2.3],
  ],
  waiting: [["P", "M8 2.6 13.4 8 8 13.4 2.6 8z"]],
  done: [["p", "m3.2 8.4 3.1 3.1 6.5-7"]],
  idle: [["c", 8, 8, 4]],
  failed: [["p", "m4.3 4.3 7.4 7.4M11.7 4.3l-7.4 7.4"]],
  stopped: [["p", "M4.5 8h7"]],
  shieldOff: [["p", shieldPath]],
  shieldMonitor: [
    ["p", shieldPath],
    ["C", 8, 7.8, 1.7],
  ],
  shieldFiles: [
    ["p", shieldPath],
    ["P", "M8 2v12c-2.9-1.1-5-3.3-5-6.3V3.8z"],
  ],
  shieldFull: [
    ["p", shieldPath],
    ["P", shieldPath],
  ],
} satisfies Record<string, Shape[]>;

export type IconName = keyof typeof icons;
