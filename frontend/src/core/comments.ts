// Comments on the lines of a review. They gather, and go to the agent as one message.

export interface Place {
  path: string;
  /** "new" is the worktree, "old" what it is compared with. */
  side: "old" | "new";
  line: number;
}

export interface Comment extends Place {
  /** The line itself, so that the agent finds it though lines have moved. */
  code: string;
  words: string;
}

/** What a person noted in the review of one task and has not sent yet. */
export interface Notes {
  comments: Comment[];
  /** The files that were looked at: by path, what their change was then. */
  viewed: Record<string, string>;
}

/** Limits of what is kept: more comments than this make no message that anybody reads. */
export const most = { comments: 200, words: 10_000, viewed: 5_000 };

/** The longest line that is quoted whole. */
const quoted = 200;

export const keyOf = (at: Place) => `${at.path}\0${at.side}\0${at.line}`;

/** Comments in the order of the review: by file, then by line. */
export function inOrder(comments: Comment[]): Comment[] {
  return [...comments].sort(
    (a, b) => a.path.localeCompare(b.path) || a.line - b.line || (a.side === b.side ? 0 : a.side === "old" ? -1 : 1),
  );
}

/** The message that says them all. */
export function messageOf(comments: Comment[]): string {
  const list = inOrder(comments);
  const head = list.length === 1 ? "A comment on your changes:" : `${list.length} comments on your changes:`;
  return [head, ...list.map(said)].join("\n\n");
}

function said(comment: Comment): string {
  const where =
    comment.side === "old"
      ? `${comment.path}, line ${comment.line} before the change`
      : `${comment.path}:${comment.line}`;
  const code = comment.code.trim();
  const line = code.length > quoted ? `${code.slice(0, quoted)}…` : code;
  return [where, ...(line ? [`> ${line}`] : []), comment.words.trim()].join("\n");
}

/** Reads notes that were kept. What does not fit is left out: it is never a reason not to show a review. */
export function readNotes(text: string | null): Notes {
  const notes: Notes = { comments: [], viewed: {} };
  let found: unknown;
  try {
    found = JSON.parse(text ?? "");
  } catch {
    return notes;
  }
  if (typeof found !== "object" || found === null) return notes;
  const { comments, viewed } = found as { comments?: unknown; viewed?: unknown };
  if (Array.isArray(comments)) notes.comments = comments.filter(isComment).slice(0, most.comments);
  if (typeof viewed === "object" && viewed !== null)
    for (const [path, what] of Object.entries(viewed).slice(0, most.viewed))
      if (typeof what === "string") notes.viewed[path] = what;
  return notes;
}

function isComment(found: unknown): found is Comment {
  const one = found as Partial<Comment> | null;
  return (
    typeof one?.path === "string" &&
    (one.side === "old" || one.side === "new") &&
    typeof one.line === "number" &&
    typeof one.code === "string" &&
    typeof one.words === "string"
  );
}
