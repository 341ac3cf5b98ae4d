/**
 * What the app will make of a task's name for its branch and folder. This is a preview: the app itself decides, and
 * adds a number when the name is taken (internal/worktree, Slug).
 */
export function slug(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 48)
    .replace(/^-+|-+$/g, "");
}
