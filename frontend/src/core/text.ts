// What agents, files and branches are called is untrusted. It is always drawn as text, never as markup; what would
// change how the text around it reads is drawn as a mark.

/**
 * Control characters become their pictures, characters that turn the direction of writing or have no width of their
 * own become a dot in a ring, line ends become a return mark.
 */
export function shown(text: string): string {
  let out = "";
  for (const char of text) out += mark(char.codePointAt(0) ?? 0, char);
  return out;
}

function mark(code: number, char: string): string {
  if (code === 0x0a) return "⏎";
  if (code === 0x0d) return "␍";
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  if (code >= 0x80 && code <= 0x9f) return "�";
  if (hidden(code)) return "◌";
  return char;
}

/** Overrides of direction, and what is invisible: zero-width spaces, tags, soft hyphen, byte order mark. */
function hidden(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x61c ||
    code === 0x200b ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0xfeff ||
    (code >= 0xe0000 && code <= 0xe007f)
  );
}

/** A text of several lines, each as `shown` gives it; the lines stay. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shown).join("\n");
}

/** A path as it is shown: with a ~ for the home folder, as shells write it. */
export function homely(path: string, home: string): string {
  const folder = home.replace(/\/+$/, "");
  if (!folder) return path;
  return path === folder || path.startsWith(`${folder}/`) ? `~${path.slice(folder.length)}` : path;
}

/** A sentence whose paths are shown with a ~ for the home folder. */
export function homelyIn(text: string, home: string): string {
  const folder = home.replace(/\/+$/, "");
  return folder ? text.replaceAll(`${folder}/`, "~/") : text;
}

/** "1 file", "3 files". */
export function count(n: number, noun: string, plural = noun + "s"): string {
  return `${n} ${n === 1 ? noun : plural}`;
}

/** The last part of a path, and what stands before it. */
export function splitPath(path: string): { folder: string; name: string } {
  const at = path.replace(/\/+$/, "").lastIndexOf("/");
  return at < 0 ? { folder: "", name: path } : { folder: path.slice(0, at), name: path.slice(at + 1) };
}

/** A text as TOML writes it, for settings_set. */
export function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007F");
}

/** A list of texts as TOML writes it, for settings_set. */
export function tomlList(list: string[]): string {
  return `[${list.map(tomlText).join(", ")}]`;
}

/** A text that ends as a sentence does. */
export function sentence(text: string): string {
  return /[.!?…:]["”')]?$/.test(text) ? text : `${text}.`;
}

/** A name for a task that begins with a prompt: its first words. */
export function nameFrom(prompt: string): string {
  let name = "";
  for (const word of prompt.trim().split(/\s+/)) {
    if (name && (name.length + word.length > 40 || /[.!?:;]$/.test(name))) break;
    name += `${name && " "}${[...word].slice(0, 60).join("")}`;
  }
  return name.replace(/[\p{P}\s]+$/u, "");
}

/** A sentence taken apart: what stands between backticks can be typed. One that has no partner is text. All of it is made fit to be shown. */
export function codeParts(text: string): { text: string; code: boolean }[] {
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    const last = parts.pop() ?? "";
    parts.push(`${parts.pop() ?? ""}\`${last}`);
  }
  return parts.map((part, i) => ({ text: shown(part), code: i % 2 === 1 })).filter((part) => part.text !== "");
}
