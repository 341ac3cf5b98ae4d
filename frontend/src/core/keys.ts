// Every act of the window that a key can do, and how key presses are spelled. Which key does which act is keymap.ts.

type TabNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** One act: its name in settings.toml, what it does, and its keys where the person chose none. */
interface Row {
  name: string;
  label: string;
  group: KeyGroup;
  mac: string;
  elsewhere: string;
}

export const keyGroups = ["Window", "Tasks", "Tabs", "Panes", "Terminal"] as const;
export type KeyGroup = (typeof keyGroups)[number];

/**
 * The table. On Linux and Windows plain Ctrl and a letter belong to the program in the terminal, so the app takes
 * Ctrl+Shift, Ctrl+Alt or Alt. Copy and paste have no keys here on a Mac: the system's own do them.
 */
const rows = [
  { name: "palette", label: "Command palette", group: "Window", mac: "Shift+Meta+P", elsewhere: "Ctrl+Shift+P" },
  { name: "settings", label: "Settings", group: "Window", mac: "Meta+,", elsewhere: "Ctrl+," },
  { name: "toggleSidebar", label: "Show or hide the sidebar", group: "Window", mac: "Meta+B", elsewhere: "Ctrl+Alt+B" },
  {
    name: "togglePanel",
    label: "Show or hide the right panel",
    group: "Window",
    mac: "Alt+Meta+B",
    elsewhere: "Ctrl+Alt+Shift+B",
  },
  { name: "nextRegion", label: "Next part of the window", group: "Window", mac: "F6", elsewhere: "F6" },
  { name: "prevRegion", label: "Previous part of the window", group: "Window", mac: "Shift+F6", elsewhere: "Shift+F6" },
  {
    name: "nextWaiting",
    label: "Next task that waits for you",
    group: "Tasks",
    mac: "Shift+Meta+A",
    elsewhere: "Ctrl+Shift+A",
  },
  { name: "newTask", label: "New task", group: "Tasks", mac: "Meta+N", elsewhere: "Ctrl+Shift+N" },
  { name: "prevTask", label: "Previous task", group: "Tasks", mac: "Meta+[", elsewhere: "Ctrl+Shift+PageUp" },
  { name: "nextTask", label: "Next task", group: "Tasks", mac: "Meta+]", elsewhere: "Ctrl+Shift+PageDown" },
  { name: "rowUp", label: "Row above in the sidebar", group: "Tasks", mac: "Alt+ArrowUp", elsewhere: "Alt+ArrowUp" },
  {
    name: "rowDown",
    label: "Row below in the sidebar",
    group: "Tasks",
    mac: "Alt+ArrowDown",
    elsewhere: "Alt+ArrowDown",
  },
  {
    name: "moveTaskUp",
    label: "Move task up",
    group: "Tasks",
    mac: "Ctrl+Shift+Meta+ArrowUp",
    elsewhere: "Ctrl+Shift+ArrowUp",
  },
  {
    name: "moveTaskDown",
    label: "Move task down",
    group: "Tasks",
    mac: "Ctrl+Shift+Meta+ArrowDown",
    elsewhere: "Ctrl+Shift+ArrowDown",
  },
  { name: "review", label: "Review changes", group: "Tasks", mac: "Shift+Meta+R", elsewhere: "Ctrl+Shift+R" },
  { name: "edit", label: "Open in the editor", group: "Tasks", mac: "Alt+Meta+E", elsewhere: "Ctrl+Alt+E" },
  { name: "compose", label: "Write a prompt", group: "Tasks", mac: "Alt+Meta+P", elsewhere: "Ctrl+Alt+P" },
  { name: "queue", label: "Show what is queued", group: "Tasks", mac: "Alt+Meta+Q", elsewhere: "Ctrl+Alt+Q" },
  { name: "broadcast", label: "Broadcast a prompt", group: "Tasks", mac: "Shift+Meta+B", elsewhere: "Ctrl+Shift+B" },
  { name: "stopAgents", label: "Stop agents and terminals", group: "Tasks", mac: "Meta+.", elsewhere: "Ctrl+Shift+." },
  { name: "newTab", label: "Open a terminal", group: "Tabs", mac: "Meta+T", elsewhere: "Ctrl+Shift+T" },
  { name: "closeTab", label: "Close tab", group: "Tabs", mac: "Meta+W", elsewhere: "Ctrl+Shift+W" },
  { name: "prevTab", label: "Previous tab", group: "Tabs", mac: "Shift+Meta+[", elsewhere: "Ctrl+PageUp" },
  { name: "nextTab", label: "Next tab", group: "Tabs", mac: "Shift+Meta+]", elsewhere: "Ctrl+PageDown" },
  { name: "reopenTab", label: "Reopen closed tab", group: "Tabs", mac: "Shift+Meta+T", elsewhere: "Alt+Shift+T" },
  { name: "allTabs", label: "List all tabs", group: "Tabs", mac: "Shift+Meta+L", elsewhere: "Alt+Shift+L" },
  {
    name: "moveTabLeft",
    label: "Move tab to the left",
    group: "Tabs",
    mac: "Ctrl+Shift+Meta+ArrowLeft",
    elsewhere: "Alt+Shift+PageUp",
  },
  {
    name: "moveTabRight",
    label: "Move tab to the right",
    group: "Tabs",
    mac: "Ctrl+Shift+Meta+ArrowRight",
    elsewhere: "Alt+Shift+PageDown",
  },
  { name: "restartAgent", label: "Restart this tab", group: "Tabs", mac: "Alt+Meta+R", elsewhere: "Ctrl+Alt+R" },
  { name: "splitRight", label: "Split to the right", group: "Panes", mac: "Meta+D", elsewhere: "Ctrl+Shift+D" },
  { name: "splitBelow", label: "Split below", group: "Panes", mac: "Shift+Meta+D", elsewhere: "Ctrl+Shift+E" },
  { name: "closePane", label: "Close pane", group: "Panes", mac: "Alt+Meta+W", elsewhere: "Alt+Shift+W" },
  {
    name: "paneLeft",
    label: "Pane on the left",
    group: "Panes",
    mac: "Alt+Meta+ArrowLeft",
    elsewhere: "Alt+Shift+ArrowLeft",
  },
  {
    name: "paneRight",
    label: "Pane on the right",
    group: "Panes",
    mac: "Alt+Meta+ArrowRight",
    elsewhere: "Alt+Shift+ArrowRight",
  },
  { name: "paneUp", label: "Pane above", group: "Panes", mac: "Alt+Meta+ArrowUp", elsewhere: "Alt+Shift+ArrowUp" },
  {
    name: "paneDown",
    label: "Pane below",
    group: "Panes",
    mac: "Alt+Meta+ArrowDown",
    elsewhere: "Alt+Shift+ArrowDown",
  },
  {
    name: "bottomTerminal",
    label: "Show or hide the bottom terminal",
    group: "Panes",
    mac: "Meta+J",
    elsewhere: "Ctrl+Shift+J",
  },
  { name: "focusAgent", label: "Go to the agent", group: "Terminal", mac: "Meta+L", elsewhere: "Ctrl+Shift+L" },
  { name: "find", label: "Find in the terminal", group: "Terminal", mac: "Meta+F", elsewhere: "Ctrl+Shift+F" },
  { name: "clearTerminal", label: "Clear the terminal", group: "Terminal", mac: "Meta+K", elsewhere: "Ctrl+Shift+K" },
  { name: "copy", label: "Copy", group: "Terminal", mac: "", elsewhere: "Ctrl+Shift+C" },
  { name: "paste", label: "Paste", group: "Terminal", mac: "", elsewhere: "Ctrl+Shift+V" },
  { name: "bigger", label: "Bigger text in terminals", group: "Terminal", mac: "Meta+=", elsewhere: "Ctrl+=" },
  { name: "smaller", label: "Smaller text in terminals", group: "Terminal", mac: "Meta+-", elsewhere: "Ctrl+-" },
  {
    name: "normalSize",
    label: "Text of terminals as it was",
    group: "Terminal",
    mac: "Meta+0",
    elsewhere: "Ctrl+0",
  },
] as const satisfies Row[];

export type Action = (typeof rows)[number]["name"] | `tab${TabNumber}`;
export type ActionRow = Row & { name: Action };

/** Every act of the table, in the order in which a page shows them. */
export const actions: readonly ActionRow[] = [
  ...rows,
  ...([1, 2, 3, 4, 5, 6, 7, 8, 9] as const).map(
    (n): ActionRow => ({ name: `tab${n}`, label: `Tab ${n}`, group: "Tabs", mac: `Meta+${n}`, elsewhere: `Alt+${n}` }),
  ),
];

/** What a key press looks like, so that this file needs no browser. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

/** The combination of a key press, spelled as in the table. Letters and digits go by their place on the keyboard
 * where the layout gives something that is not Latin, so that shortcuts work in Cyrillic and Greek. */
export function spelled(press: KeyPress): string {
  let key = press.key;
  const letter = /^Key([A-Z])$/.exec(press.code)?.[1];
  const digit = /^Digit([0-9])$/.exec(press.code)?.[1];
  if (digit && (press.altKey || press.ctrlKey || press.metaKey)) key = digit;
  else if (/^[a-z]$/i.test(key)) key = key.toUpperCase();
  else if (letter) key = letter;
  else if (press.code === "Period" || press.code === "Comma") key = press.code === "Period" ? "." : ",";
  else if (press.code === "BracketLeft" || press.code === "BracketRight")
    key = press.code === "BracketLeft" ? "[" : "]";
  else if (key === "+") key = "=";
  else if (key === " ") key = "Space";
  let name = "";
  if (press.ctrlKey) name += "Ctrl+";
  if (press.altKey) name += "Alt+";
  if (press.shiftKey && key !== "=") name += "Shift+";
  if (press.metaKey) name += "Meta+";
  return name + key;
}

/** Whether a press is of a key that only changes what others mean. */
export function onlyModifier(press: KeyPress): boolean {
  return ["Control", "Alt", "Shift", "Meta", "AltGraph", "CapsLock", "Fn", "Dead", "Process"].includes(press.key);
}

const modifiers: Record<string, string> = {
  ctrl: "Ctrl",
  control: "Ctrl",
  alt: "Alt",
  option: "Alt",
  shift: "Shift",
  meta: "Meta",
  cmd: "Meta",
  command: "Meta",
  super: "Meta",
};
const order = ["Ctrl", "Alt", "Shift", "Meta"];
const named = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "Insert"]
  .concat(["Delete", "Backspace", "Enter", "Tab", "Escape", "Space"])
  .concat(Array.from({ length: 24 }, (_, i) => `F${i + 1}`));
const namedKeys = new Map<string, string>([
  ...named.map((name) => [name.toLowerCase(), name] as const),
  ...["Up", "Down", "Left", "Right"].map((name) => [name.toLowerCase(), `Arrow${name}`] as const),
  ["esc", "Escape"],
  ["return", "Enter"],
  ["del", "Delete"],
  ["plus", "="],
]);

/** A combination as somebody wrote it, in the spelling of the table; undefined where it is none. */
export function parsed(text: string): string | undefined {
  const parts = text
    .trim()
    .replace(/\+\+$/, "+Plus") // the key + itself
    .split("+")
    .map((part) => part.trim());
  const last = parts.pop() ?? "";
  const key = [...last].length === 1 ? last.toUpperCase() : namedKeys.get(last.toLowerCase());
  if (!key || /\s/.test(key)) return undefined;
  const held = new Set<string>();
  for (const part of parts) {
    const modifier = modifiers[part.toLowerCase()];
    if (!modifier) return undefined;
    held.add(modifier);
  }
  if (key === "=") held.delete("Shift"); // + and = are one key
  return [...order.filter((one) => held.has(one)), key].join("+");
}

const macSigns: Record<string, string> = { Ctrl: "⌃", Alt: "⌥", Shift: "⇧", Meta: "⌘" };

/** How a combination is shown: "⇧⌘A" or "Ctrl+Shift+A". */
export function comboLabel(combo: string, isMac: boolean): string {
  const label = combo.replace("Arrow", "");
  if (!isMac) return label.replace("Meta", "Super");
  return label
    .split("+")
    .map((part) => macSigns[part] ?? part)
    .join("");
}
