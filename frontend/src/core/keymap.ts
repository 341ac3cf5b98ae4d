// Which keys do what: the table's own where the person chose none, and what may be chosen.

import { type Action, type ActionRow, actions, comboLabel, type KeyPress, parsed, spelled } from "./keys";

/** Something in the file that could not be done, in words. */
export interface KeyProblem {
  action: string;
  text: string;
}

/** The keys in force. It is never changed: other settings make another one. */
export class Keymap {
  readonly problems: readonly KeyProblem[];
  readonly #isMac: boolean;
  readonly #byCombo = new Map<string, Action>();
  readonly #byAction = new Map<Action, string>();
  readonly #written: ReadonlySet<string>;

  /**
   * Takes what settings.toml has under [keys]. A key that the person chose wins over the table's own key of another
   * act; where two choices clash, the first in the table's order keeps it. What cannot be done is named, and the act
   * then has no key, or its own.
   */
  constructor(isMac: boolean, chosen: Readonly<Record<string, string>>) {
    this.#isMac = isMac;
    this.#written = new Set(Object.keys(chosen));
    const problems: KeyProblem[] = [];
    const known = new Set<string>(actions.map((row) => row.name));
    for (const name of Object.keys(chosen)) {
      if (!known.has(name)) problems.push({ action: name, text: `There is no action “${name}”.` });
    }
    const taken = new Set<Action>(); // by a choice, be it none
    for (const row of actions) {
      const text = chosen[row.name];
      if (text === undefined) continue;
      const combo = text.trim() === "" ? "" : parsed(text);
      const why =
        combo === undefined
          ? `“${text}” is no combination of keys. Write it like ${comboLabel("Ctrl+Shift+Y", false)}.`
          : combo && whyNot(combo, isMac);
      if (why) {
        problems.push({ action: row.name, text: `${row.label}: ${why}` });
        continue;
      }
      const other = combo ? this.#byCombo.get(combo) : undefined;
      if (other) {
        problems.push({
          action: row.name,
          text: `${row.label}: ${comboLabel(combo ?? "", isMac)} is taken by “${labelOf(other)}”.`,
        });
      } else this.#bind(row.name, combo ?? "");
      taken.add(row.name);
    }
    for (const row of actions) {
      const own = defaultOf(row, isMac);
      if (taken.has(row.name) || this.#byCombo.has(own)) continue;
      this.#bind(row.name, own);
    }
    this.problems = problems;
  }

  #bind(action: Action, combo: string): void {
    if (!combo) return;
    this.#byCombo.set(combo, action);
    this.#byAction.set(action, combo);
  }

  /** What a key press asks for. */
  actionOf(press: KeyPress): Action | undefined {
    return this.#byCombo.get(spelled(press));
  }

  /** The combination of an act, as the table spells it. */
  comboOf(action: Action): string | undefined {
    return this.#byAction.get(action);
  }

  /** How the shortcut of an act is shown; "" when it has none. */
  label(action: Action): string {
    const combo = this.#byAction.get(action);
    return combo ? comboLabel(combo, this.#isMac) : "";
  }

  /** A text with the shortcut of an act behind it, where it has one. */
  hint(text: string, action: Action): string {
    const label = this.label(action);
    return label ? `${text} (${label})` : text;
  }

  /** Whether the file says something of the key of an act, be it none or one that it cannot have. */
  isChosen(action: Action): boolean {
    return this.#written.has(action);
  }

  /** The key that an act has where the person chose none; "" for none. */
  defaultLabel(row: ActionRow): string {
    return comboLabel(defaultOf(row, this.#isMac), this.#isMac);
  }

  /** Why an act cannot have a combination, or "". */
  refusal(action: Action, combo: string): string {
    const why = whyNot(combo, this.#isMac);
    if (why) return why;
    const other = this.#byCombo.get(combo);
    if (!other || other === action) return "";
    return `${comboLabel(combo, this.#isMac)} is taken by “${labelOf(other)}”. Change that one first, or press other keys.`;
  }

  /** Why an act cannot have its own key again, or "". */
  resetRefusal(row: ActionRow): string {
    const own = defaultOf(row, this.#isMac);
    return own ? this.refusal(row.name, own) : "";
  }
}

function defaultOf(row: ActionRow, isMac: boolean): string {
  return isMac ? row.mac : row.elsewhere;
}

function labelOf(action: Action): string {
  return actions.find((row) => row.name === action)?.label ?? action;
}

/** Keys that programs in a terminal are told of together with Ctrl. Page up and down are not among them. */
const ctrlKeys = /^(?:[A-Z2-8@[\]\\^_/? ]|Arrow.*|Home|End|Insert|Delete|Backspace|Enter|Tab|Escape|Space)$/;

/** Combinations that the system keeps for itself. */
const ofMac = ["Meta+C", "Meta+V", "Meta+X", "Meta+Q", "Meta+H", "Meta+M", "Meta+Tab", "Meta+Space"];
const ofElsewhere = ["Alt+F4", "Alt+Tab", "Alt+Shift+Tab", "Alt+Space"];

/** Why no act can have a combination, or "": it belongs to the program in the terminal, or to the system. */
function whyNot(combo: string, isMac: boolean): string {
  const parts = combo.split("+");
  const key = parts.at(-1) ?? "";
  const held = parts.slice(0, -1);
  const label = comboLabel(combo, isMac);
  const terminal = `${label} belongs to the program in the terminal. Add ${isMac ? "⌘" : "Ctrl+Shift or Alt"}, or press other keys.`;
  const system = `${label} belongs to the system. Press other keys.`;
  if (key === "Escape") return `${label} leaves dialogs and pages, and belongs to the program in the terminal.`;
  if (isMac ? ofMac.includes(combo) : ofElsewhere.includes(combo) || held.includes("Meta")) return system;
  if (held.includes("Meta")) return "";
  if (/^F\d+$/.test(key)) return "";
  if (held.every((one) => one === "Shift")) return terminal; // typing
  if (held.join() === "Ctrl" && ctrlKeys.test(key)) return terminal;
  if (isMac && held.every((one) => one === "Alt" || one === "Shift") && key.length === 1) return terminal; // types signs
  return "";
}
