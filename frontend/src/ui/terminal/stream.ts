import type { Frame } from "../../core/frames";
import { InputQueue } from "../../core/inputqueue";
import type { Wire } from "./wire";

export interface Size {
  cols: number;
  rows: number;
}

/** What a stream tells its terminal. Frames come in order; lost comes once, when it ended without an end frame. */
export interface StreamEvents {
  frame(frame: Frame): void;
  lost(): void;
}

/** Printed bytes after which the page tells how far it has drawn. Half of the smallest window that the app keeps. */
const ackEvery = 16 << 10;

/** How long a terminal that takes no keys any more has to say that it ended, in milliseconds. */
const lastWords = 2000;

/** One attachment to a terminal: a channel of the page's wire. */
export class TerminalStream {
  readonly #wire: Wire;
  readonly #number: number;
  readonly #input: InputQueue;
  #live = false; // the app has it: what was said before goes out now
  #early: Uint8Array[] = []; // typed before
  #acked = 0;
  #drawn = 0;
  #size: Size;
  readonly #asked: Size; // with which it was attached
  #hidden = false;
  #follows = false; // as it is told
  #over = false; // nobody is left to tell

  constructor(wire: Wire, task: string, tab: string, size: Size, events: StreamEvents) {
    this.#wire = wire;
    this.#size = size;
    this.#asked = size;
    const lost = () => {
      if (this.#over) return;
      this.dispose();
      events.lost();
    };
    this.#number = wire.join({ frame: (frame) => events.frame(frame), lost }, { task, tab, ...size });
    this.#input = new InputQueue(
      (bytes) => wire.type(this.#number, bytes),
      () => setTimeout(lost, lastWords),
    );
  }

  /** Takes note of the hello frame. */
  joined(): void {
    this.#live = true;
    for (const bytes of this.#early.splice(0)) this.#input.push(bytes);
    const { cols, rows } = this.#size;
    if (cols !== this.#asked.cols || rows !== this.#asked.rows) this.#wire.tell(this.#number, { cols, rows });
    if (this.#hidden) this.#wire.tell(this.#number, { hidden: true });
    if (this.#follows) this.#wire.tell(this.#number, { follows: true });
  }

  write(bytes: Uint8Array): void {
    if (this.#live) this.#input.push(bytes);
    else if (!this.#over) this.#early.push(bytes);
  }

  resize({ cols, rows }: Size): void {
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    if (this.#live) this.#wire.tell(this.#number, { cols, rows });
  }

  /** Takes a size that somebody else gave the terminal: it is not told back. */
  follow(size: Size): void {
    this.#size = size;
  }

  /** True while a size that we asked for is on its way: what comes back meanwhile is older. */
  get resizing(): boolean {
    return this.#wire.resizing(this.#number);
  }

  hide(): void {
    this.#see(false);
  }

  show(): void {
    this.#see(true);
  }

  #see(shown: boolean): void {
    if (this.#hidden !== shown) return;
    this.#hidden = !shown;
    if (this.#live) this.#wire.tell(this.#number, { hidden: !shown });
  }

  /** Says whether the end of what is printed is shown, and nothing of it is held fast. */
  following(follows: boolean): void {
    if (this.#follows === follows) return;
    this.#follows = follows;
    if (this.#live) this.#wire.tell(this.#number, { follows });
  }

  /** Says that everything up to seq is on the screen. */
  drawn(seq: number): void {
    if (seq > this.#drawn) this.#drawn = seq;
    if (this.#drawn - this.#acked >= ackEvery) this.ack();
  }

  /** Starts counting at a snapshot, which may lie anywhere. That it was drawn is told by ack. */
  restart(seq: number): void {
    this.#drawn = seq;
  }

  /** Tells how far it has drawn. */
  ack(): void {
    if (this.#over) return;
    this.#acked = this.#drawn;
    this.#wire.tell(this.#number, { ack: this.#acked });
  }

  /** Takes note of the end frame. */
  ended(): void {
    this.#wire.ended(this.#number);
    this.#end();
  }

  dispose(): void {
    if (this.#over) return;
    this.#wire.leave(this.#number);
    this.#end();
  }

  #end(): void {
    this.#over = true;
    this.#early = [];
    this.#input.close();
  }
}
