import type { Terminal } from "@xterm/xterm";
import { type Disposable, Disposables, disposable } from "../../core/disposable";
import { Pictures } from "../../core/pictures";

/** What of xterm.js is reached into, as no option leads there. A version that has other insides draws as it likes. */
interface Insides {
  _core?: {
    _renderService?: { _renderDebouncer?: { refresh?: Refresh } };
    _selectionService?: { refresh?: (byMouse?: boolean) => void; readonly hasSelection?: boolean };
  };
}

type Refresh = (start: number | undefined, end: number | undefined, rows: number) => void;

/** What tells that somebody is at the terminal. */
const touches = ["keydown", "wheel", "pointerdown", "pointermove"];

/**
 * Draws a terminal no more often than it is worth: a flood gets few pictures while nobody does anything, and a terminal in
 * which nothing is selected is not drawn a second time with each line that scrolls. To be called once it was opened.
 */
export class Paint implements Disposable {
  readonly #owned = new Disposables();
  #pictures: Pictures | undefined;

  /** Takes note of bytes that the terminal is given. */
  printed(bytes: number): void {
    this.#pictures?.printed(bytes);
  }

  /** Somebody did something, such as typing. */
  touched(): void {
    this.#pictures?.touched();
  }

  /** Draws what has changed at once. */
  show(): void {
    this.#pictures?.show();
  }

  /** Asks for the next picture of a flood, when it is time for one. */
  next(ask: () => void): void {
    if (this.#pictures) this.#pictures.next(ask);
    else ask();
  }

  open(terminal: Terminal, element: HTMLElement): void {
    const { _core: core } = terminal as unknown as Insides;
    const draws = core?._renderService?._renderDebouncer;
    if (draws?.refresh) this.#pace(terminal, draws.refresh.bind(draws), element, (own) => (draws.refresh = own));
    const selection = core?._selectionService;
    if (selection?.refresh && "hasSelection" in selection) once(selection as Required<typeof selection>);
  }

  #pace(terminal: Terminal, refresh: Refresh, element: HTMLElement, replace: (own: Refresh) => void): void {
    const pictures = new Pictures((start, end) => refresh(start, end, terminal.rows));
    replace((start, end, rows) => pictures.changed(start ?? 0, end ?? rows - 1));
    this.#pictures = pictures;
    this.#owned.add(pictures);
    const touched = () => pictures.touched();
    for (const kind of touches) element.addEventListener(kind, touched, { capture: true, passive: true });
    this.#owned.add(
      disposable(() => {
        for (const kind of touches) element.removeEventListener(kind, touched, { capture: true });
      }),
    );
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** Each line that scrolls draws the selection anew, and all rows with it. Where there is none, and was none, that is in vain. */
function once(selection: { refresh: (byMouse?: boolean) => void; readonly hasSelection: boolean }): void {
  const refresh = selection.refresh.bind(selection);
  let had = true;
  selection.refresh = (byMouse) => {
    const has = selection.hasSelection;
    if (has || had) refresh(byMouse);
    had = has;
  };
}
