import type { Terminal } from "@xterm/xterm";
import { type Disposable, Disposables, disposable } from "../../core/disposable";

/** What moves the view of a terminal, or holds a text in it fast. */
const moves = ["keydown", "wheel", "pointerdown", "touchmove"];

/**
 * Says whether a terminal shows the end of what is printed and nothing of it is held fast. Then pictures of a flood are enough;
 * otherwise somebody reads, scrolls, selects or searches, and what they look at must not be drawn anew under them.
 */
export class Follow implements Disposable {
  readonly #owned = new Disposables();
  readonly #terminal: Terminal;
  readonly #tell: (follows: boolean) => void;
  #follows = true;
  #pressed = false;
  #searching = false;

  constructor(terminal: Terminal, tell: (follows: boolean) => void) {
    this.#terminal = terminal;
    this.#tell = tell;
    // Afterwards: a snapshot ends a selection in its midst, when the view is not where it will be.
    this.#owned.add(terminal.onSelectionChange(() => setTimeout(() => this.look())));
  }

  get follows(): boolean {
    return this.#follows;
  }

  /** Somebody looks for a text in it, or does not any more. */
  set searching(is: boolean) {
    this.#searching = is;
    this.look();
  }

  open(element: HTMLElement): void {
    // The terminal moves its view after this listener, within the same event.
    const moved = (event: Event) => {
      if (event.type === "pointerdown") this.#pressed = true;
      this.look();
      setTimeout(() => this.look());
    };
    const released = () => {
      if (!this.#pressed) return;
      this.#pressed = false;
      setTimeout(() => this.look());
    };
    for (const kind of moves) element.addEventListener(kind, moved, { capture: true, passive: true });
    for (const kind of ["pointerup", "pointercancel", "blur"])
      window.addEventListener(kind, released, { capture: true });
    this.#owned.add(
      disposable(() => {
        for (const kind of moves) element.removeEventListener(kind, moved, { capture: true });
        for (const kind of ["pointerup", "pointercancel", "blur"])
          window.removeEventListener(kind, released, { capture: true });
      }),
    );
  }

  /** Looks how the terminal stands, and tells if that has changed. */
  look(): void {
    if (this.#owned.done) return;
    const { active } = this.#terminal.buffer;
    const follows =
      !this.#pressed && !this.#searching && active.viewportY >= active.baseY && !this.#terminal.hasSelection();
    if (follows === this.#follows) return;
    this.#follows = follows;
    this.#tell(follows);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
