/** The settings that the window itself uses, read from what settings_get gives: values by dotted key. */
export interface WindowSettings {
  /** "system", "dark", "light", or the id of a theme that the person wrote. */
  theme: string;
  /** How a review shows differences. */
  review: "side-by-side" | "unified";
  fontFamily: string;
  fontSize: number;
  scrollback: number;
  copyOnSelect: boolean;
  /** What becomes of it when a program wants to put text on the clipboard. */
  clipboard: "ask" | "allow" | "never";
  /** Command of the editor; empty: whatever there is. */
  editor: string;
  /** Whether the command line may drive the app. */
  cli: boolean;
  logLevel: string;
  defaultAgent: string;
  defaultMode: string;
  branchPrefix: string;
  tasksDir: string;
  fetchBeforeCreate: boolean;
  sandboxMode: string;
  sandboxRead: string[];
  sandboxWrite: string[];
  sandboxHosts: string[];
  /** Of what the desktop tells while nobody looks at the window. */
  notify: { needsInput: boolean; done: boolean; failed: boolean };
  /** Whether and where it is asked for newer releases. */
  updates: { check: boolean; address: string; key: string };
  /** Ids of the prompts that the file has: the person's own, and changed ones of the app. */
  ownPrompts: string[];
  /** Shortcuts that the person chose: by the name of the action, "" for none. */
  keys: Record<string, string>;
}

export const defaultSettings: WindowSettings = {
  theme: "system",
  review: "side-by-side",
  fontFamily: "",
  fontSize: 13,
  scrollback: 5000,
  copyOnSelect: false,
  clipboard: "ask",
  editor: "",
  cli: true,
  logLevel: "info",
  defaultAgent: "",
  defaultMode: "worktree",
  branchPrefix: "",
  tasksDir: "",
  fetchBeforeCreate: true,
  sandboxMode: "off",
  sandboxRead: [],
  sandboxWrite: [],
  sandboxHosts: [],
  notify: { needsInput: true, done: true, failed: true },
  updates: { check: false, address: "", key: "" },
  ownPrompts: [],
  keys: {},
};

/** Sizes of the terminal's text, in pixels. */
export const fontSizes = { least: 6, most: 72 };

export function readSettings(values: Record<string, unknown>): WindowSettings {
  const d = defaultSettings;
  return {
    theme: themeName(text(values, "appearance.theme", d.theme)),
    review: text(values, "appearance.review", d.review) === "unified" ? "unified" : "side-by-side",
    fontFamily: text(values, "terminal.font_family", d.fontFamily),
    fontSize: clamp(number(values, "terminal.font_size", d.fontSize), fontSizes.least, fontSizes.most),
    scrollback: clamp(number(values, "terminal.scrollback_lines", d.scrollback), 0, 100_000),
    copyOnSelect: flag(values, "terminal.copy_on_select", d.copyOnSelect),
    clipboard: clipboard(text(values, "terminal.clipboard", d.clipboard)),
    editor: text(values, "general.editor", d.editor),
    cli: flag(values, "general.cli_enabled", d.cli),
    logLevel: text(values, "general.log_level", d.logLevel),
    defaultAgent: text(values, "tasks.default_agent", d.defaultAgent),
    defaultMode: text(values, "tasks.default_mode", d.defaultMode),
    branchPrefix: text(values, "tasks.branch_prefix", d.branchPrefix),
    tasksDir: text(values, "tasks.dir", d.tasksDir),
    fetchBeforeCreate: flag(values, "tasks.fetch_before_create", d.fetchBeforeCreate),
    sandboxMode: text(values, "sandbox.default_mode", d.sandboxMode),
    sandboxRead: texts(values, "sandbox.read"),
    sandboxWrite: texts(values, "sandbox.write"),
    sandboxHosts: texts(values, "sandbox.hosts"),
    notify: {
      needsInput: flag(values, "notifications.needs_input", d.notify.needsInput),
      done: flag(values, "notifications.done", d.notify.done),
      failed: flag(values, "notifications.failed", d.notify.failed),
    },
    updates: {
      check: flag(values, "updates.check", false),
      address: text(values, "updates.address", ""),
      key: text(values, "updates.key", ""),
    },
    ownPrompts: idsOf(at(values, "prompts")),
    keys: textsByName(at(values, "keys")),
  };
}

/** What is not known is like the system. */
function themeName(value: string): string {
  return value === "dark" || value === "light" || value.startsWith("custom:") ? value : "system";
}

/** What is not known asks. */
function clipboard(value: string): WindowSettings["clipboard"] {
  return value === "allow" || value === "never" ? value : "ask";
}

/** The value of a dotted key, whether the object is flat or nested. */
function at(values: Record<string, unknown>, key: string): unknown {
  if (key in values) return values[key];
  let here: unknown = values;
  for (const part of key.split(".")) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here;
}

function text(values: Record<string, unknown>, key: string, fallback: string): string {
  const value = at(values, key);
  return typeof value === "string" ? value : fallback;
}

function number(values: Record<string, unknown>, key: string, fallback: number): number {
  const value = at(values, key);
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}

function flag(values: Record<string, unknown>, key: string, fallback: boolean): boolean {
  const value = at(values, key);
  return typeof value === "boolean" ? value : fallback;
}

function texts(values: Record<string, unknown>, key: string): string[] {
  const value = at(values, key);
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function idsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? (value as { id?: unknown }[]) : [];
  return list.flatMap((one) => (typeof one.id === "string" ? [one.id] : []));
}

function textsByName(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === "string"));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
