// The shortcuts of the window. On Linux and Windows plain Ctrl and a letter belong to the program in the terminal.

export type Action =
  | "palette"
  | "nextWaiting"
  | "newTask"
  | "newTab"
  | "closeTab"
  | "prevTab"
  | "nextTab"
  | "prevTask"
  | "nextTask"
  | "rowUp"
  | "rowDown"
  | "focusAgent"
  | "clearTerminal"
  | "find"
  | "toggleSidebar"
  | "togglePanel"
  | "review"
  | "compose"
  | "restartAgent"
  | "stopAgents"
  | "settings"
  | "bigger"
  | "smaller"
  | "normalSize"
  | "nextRegion"
  | "prevRegion"
  | "copy"
  | "paste"
  | `tab${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

/** What a key press looks like, so that this file needs no browser. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

/** Written as people read them; "Mod" does not occur on the platform that it is not for. */
const elsewhere: Record<string, Action> = {
  "Ctrl+Shift+P": "palette",
  "Ctrl+Shift+A": "nextWaiting",
  "Ctrl+Shift+N": "newTask",
  "Ctrl+Shift+T": "newTab",
  "Ctrl+Shift+W": "closeTab",
  "Ctrl+PageUp": "prevTab",
  "Ctrl+PageDown": "nextTab",
  "Ctrl+Shift+PageUp": "prevTask",
  "Ctrl+Shift+PageDown": "nextTask",
  "Alt+ArrowUp": "rowUp",
  "Alt+ArrowDown": "rowDown",
  "Ctrl+Shift+L": "focusAgent",
  "Ctrl+Shift+K": "clearTerminal",
  "Ctrl+Shift+F": "find",
  "Ctrl+Alt+B": "toggleSidebar",
  "Ctrl+Alt+Shift+B": "togglePanel",
  "Ctrl+Shift+R": "review",
  "Ctrl+Alt+P": "compose",
  "Ctrl+Alt+R": "restartAgent",
  "Ctrl+Shift+.": "stopAgents",
  "Ctrl+,": "settings",
  "Ctrl+=": "bigger",
  "Ctrl+-": "smaller",
  "Ctrl+0": "normalSize",
  F6: "nextRegion",
  "Shift+F6": "prevRegion",
  "Ctrl+Shift+C": "copy",
  "Ctrl+Shift+V": "paste",
};

const mac: Record<string, Action> = {
  "Shift+Meta+P": "palette",
  "Shift+Meta+A": "nextWaiting",
  "Meta+N": "newTask",
  "Meta+T": "newTab",
  "Meta+W": "closeTab",
  "Shift+Meta+[": "prevTab",
  "Shift+Meta+]": "nextTab",
  "Meta+[": "prevTask",
  "Meta+]": "nextTask",
  "Alt+ArrowUp": "rowUp",
  "Alt+ArrowDown": "rowDown",
  "Meta+L": "focusAgent",
  "Meta+K": "clearTerminal",
  "Meta+F": "find",
  "Meta+B": "toggleSidebar",
  "Alt+Meta+B": "togglePanel",
  "Shift+Meta+R": "review",
  "Alt+Meta+P": "compose",
  "Alt+Meta+R": "restartAgent",
  "Meta+.": "stopAgents",
  "Meta+,": "settings",
  "Meta+=": "bigger",
  "Meta+-": "smaller",
  "Meta+0": "normalSize",
  F6: "nextRegion",
  "Shift+F6": "prevRegion",
};

for (const [table, modifier] of [
  [elsewhere, "Alt"],
  [mac, "Meta"],
] as const) {
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9] as const) table[`${modifier}+${n}`] = `tab${n}`;
}

/** The combination of a key press, spelled as in the tables. Letters and digits go by their place on the keyboard
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
  let name = "";
  if (press.ctrlKey) name += "Ctrl+";
  if (press.altKey) name += "Alt+";
  if (press.shiftKey && key !== "=") name += "Shift+";
  if (press.metaKey) name += "Meta+";
  return name + key;
}

export function actionOf(press: KeyPress, isMac: boolean): Action | undefined {
  return (isMac ? mac : elsewhere)[spelled(press)];
}

const macSigns: Record<string, string> = { Ctrl: "⌃", Alt: "⌥", Shift: "⇧", Meta: "⌘" };

/** How a shortcut is written beside its action: "⇧⌘A" or "Ctrl+Shift+A"; "" when it has none. */
export function shortcutLabel(action: Action, isMac: boolean): string {
  const found = Object.entries(isMac ? mac : elsewhere).find(([, name]) => name === action)?.[0];
  if (!found) return "";
  const label = found.replace("Arrow", "").replace("PageUp", "Page up").replace("PageDown", "Page down");
  if (!isMac) return label;
  return label
    .split("+")
    .map((part) => macSigns[part] ?? part)
    .join("");
}
