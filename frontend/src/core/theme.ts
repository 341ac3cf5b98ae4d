import type { Theme } from "../gen/api";

/** The theme that a setting names, of those that the person wrote; undefined for the window's own, and for one that is gone. */
export function themeOf(setting: string, themes: Theme[]): Theme | undefined {
  return themes.find((one) => one.id === setting);
}

/** Whether the window is light: as the theme says, or as the system is where the setting leaves it open. */
export function isLight(setting: string, theme: Theme | undefined, system: boolean): boolean {
  if (theme) return theme.scheme === "light";
  return setting === "light" || (setting !== "dark" && system);
}

/** What terminals are drawn with: the theme's own colours, and the window's surface and text where it has none. */
export function terminalColors(theme: Theme | undefined): Record<string, string> {
  if (!theme) return {};
  const { content, text } = theme.ui;
  return {
    ...(content ? { background: content, cursorAccent: content } : {}),
    ...(text ? { foreground: text, cursor: text } : {}),
    ...theme.terminal,
  };
}

type Rgba = [number, number, number, number];

/** A colour as the style sheet has it: #rgb to #rrggbbaa. */
export function parseColor(text: string): Rgba | undefined {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(text.trim())?.[1];
  if (!hex) return undefined;
  const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
  if (wide.length !== 6 && wide.length !== 8) return undefined;
  const at = (i: number) => Number.parseInt(wide.slice(i, i + 2), 16);
  return [at(0), at(2), at(4), wide.length === 8 ? at(6) / 255 : 1];
}

/** The contrast of two colours as WCAG 2 measures it, from 1 to 21; a colour that is seen through lies on the other one. */
export function contrast(front: string, back: string): number | undefined {
  const [a, b] = [parseColor(front), parseColor(back)];
  if (!a || !b) return undefined;
  const over = ([0, 1, 2] as const).map((i) => a[i] * a[3] + b[i] * (1 - a[3])) as unknown as Rgba;
  const [light, dark] = [luminance(over), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance([r, g, b]: Rgba): number {
  const linear = (value: number) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** What has to be told apart: a colour, what it stands on, and the least contrast: 4.5 for text, 3 for edges. */
const pairs: [front: string, back: string, least: number][] = [
  ["text", "content", 4.5],
  ["text", "frame", 4.5],
  ["text", "raised", 4.5],
  ["text", "overlay", 4.5],
  ["text", "active", 4.5],
  ["text-2", "frame", 4.5],
  ["text-2", "raised", 4.5],
  ["text-3", "frame", 4.5],
  ["text-3", "content", 4.5],
  ["on-primary", "primary", 4.5],
  ["on-red", "red-fill", 4.5],
  ["blue", "frame", 4.5],
  ["amber", "frame", 4.5],
  ["green", "frame", 4.5],
  ["red", "frame", 4.5],
  ["line-3", "frame", 3],
  ["line-3", "raised", 3],
  ["focus", "frame", 3],
];

export interface Weak {
  front: string;
  back: string;
  ratio: number;
  least: number;
}

/** The pairs that are hard to tell apart, by what the style sheet has for each token. */
export function weakPairs(colorOf: (token: string) => string): Weak[] {
  return pairs.flatMap(([front, back, least]) => {
    const ratio = contrast(colorOf(front), colorOf(back));
    return ratio !== undefined && ratio < least ? [{ front, back, ratio, least }] : [];
  });
}
