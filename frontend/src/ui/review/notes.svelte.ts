import { type Comment, inOrder, keyOf, most, type Notes, type Place, readNotes } from "../../core/comments";

/**
 * What a person notes in the review of one task: comments that are not sent, and files that were looked at. Both are kept
 * on this computer until they are sent or taken away, so that neither a reload nor a look at another task loses them.
 */
export class ReviewNotes {
  comments = $state.raw<Comment[]>([]);
  viewed = $state.raw<Record<string, string>>({});
  /** The line that is being commented, and what is typed so far. */
  open = $state.raw<(Place & { code: string }) | undefined>();
  words = $state("");
  readonly #kept: string;

  constructor(task: string) {
    this.#kept = `termic.review.${task}`;
    const notes = readNotes(this.#read());
    this.comments = inOrder(notes.comments);
    this.viewed = notes.viewed;
  }

  of(at: Place): Comment | undefined {
    return this.comments.find((one) => keyOf(one) === keyOf(at));
  }

  isOpen(at: Place): boolean {
    return this.open !== undefined && keyOf(this.open) === keyOf(at);
  }

  /** Opens the editor at a line, with what was said there. What is typed in another one is kept as its comment. */
  edit(at: Place, code: string): void {
    if (this.open && this.words.trim()) this.add();
    this.open = { ...at, code };
    this.words = this.of(at)?.words ?? "";
  }

  close(): void {
    this.open = undefined;
    this.words = "";
  }

  /** Keeps what is typed as the comment of its line; nothing typed takes the comment away. */
  add(): void {
    if (!this.open) return;
    const { open, words } = this;
    const others = this.comments.filter((one) => keyOf(one) !== keyOf(open));
    this.comments = words.trim()
      ? inOrder([...others, { ...open, words: words.slice(0, most.words) }]).slice(0, most.comments)
      : others;
    this.close();
    this.#keep();
  }

  remove(comments: Comment[]): void {
    const keys = new Set(comments.map(keyOf));
    this.comments = this.comments.filter((one) => !keys.has(keyOf(one)));
    this.#keep();
  }

  isViewed(path: string, print: string): boolean {
    return this.viewed[path] === print;
  }

  /** Marks a file as looked at, as it is now: once it changes it is to be looked at again. */
  view(path: string, print: string, on: boolean): void {
    const { [path]: _, ...others } = this.viewed;
    this.viewed = on ? { ...others, [path]: print } : others;
    this.#keep();
  }

  #read(): string | null {
    try {
      return localStorage.getItem(this.#kept);
    } catch {
      return null; // storage is switched off
    }
  }

  #keep(): void {
    const notes: Notes = { comments: this.comments, viewed: this.viewed };
    try {
      if (this.comments.length === 0 && Object.keys(this.viewed).length === 0) localStorage.removeItem(this.#kept);
      else localStorage.setItem(this.#kept, JSON.stringify(notes));
    } catch {
      // full or switched off: they last as long as the page
    }
  }
}
