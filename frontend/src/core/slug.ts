// What the app will make of a task's name for its folder and branch. This is a preview with the app's own rules
// (internal/worktree/names.go); the app decides, and adds a number when the name is taken.

/** Most bytes of a slug. */
const most = 60;

const encoder = new TextEncoder();

/** Letters and digits in lower case, everything else as single dashes between them. */
export function slug(name: string): string {
  let out = "";
  let length = 0;
  let gap = false;
  for (const char of name) {
    const mark = /\p{M}/u.test(char) && out !== "" && !gap;
    if (!/[\p{L}\p{Nd}]/u.test(char) && !mark) {
      gap = true;
      continue;
    }
    const lower = char.toLowerCase();
    const dash = gap && out !== "" ? "-" : "";
    length += encoder.encode(lower).length + dash.length;
    if (length > most) break;
    gap = false;
    out += dash + lower;
  }
  return out;
}

/** A name with slashes becomes a path of slugs; any other goes below the prefix. Empty for a name without letters. */
export function branchFor(prefix: string, name: string): string {
  let parts = slugs(name);
  if (parts.length === 1) parts = [...slugs(prefix), ...parts];
  if (slug(name) === "") return "";
  const branch = parts.join("/");
  return branch === "head" ? "head-1" : branch;
}

function slugs(text: string): string[] {
  return text.split("/").map(slug).filter(Boolean);
}
