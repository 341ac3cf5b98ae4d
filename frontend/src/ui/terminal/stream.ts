import { type Frame, FrameReader } from "../../core/frames";
import { InputQueue } from "../../core/inputqueue";
import { pageName } from "../transport";

export interface Size {
  cols: number;
  rows: number;
}

/** What a stream tells its terminal. Frames come in order; lost comes once, when it ended without an end frame. */
export interface StreamEvents {
  frame(frame: Frame): void;
  lost(): void;
}

/** Printed bytes after which the page tells how far it has drawn. A quarter of the window that the app keeps. */
const ackEvery = 64 << 10;

/** One attachment to a terminal: bytes out of a streamed answer, bytes in through one request at a time. */
export class TerminalStream {
  readonly #abort = new AbortController();
  readonly #events: StreamEvents;
  readonly #input: InputQueue;
  #attachment = "";
  #early: Uint8Array[] = []; // typed before the attachment had its name
  #acked = 0;
  #drawn = 0;
  #acking = false;
  #size: Size;
  readonly #asked: Size; // with which it was attached
  #hidden = false;
  #resizes = 0;
  #over = false; // the app ended the attachment: there is nobody left to tell

  constructor(task: string, tab: string, size: Size, events: StreamEvents) {
    this.#events = events;
    this.#size = size;
    this.#asked = size;
    this.#input = new InputQueue(
      (bytes) => this.#post("in", bytes),
      () => this.#end(),
    );
    void this.#read(task, tab);
  }

  /** Takes what the app named this attachment, from the hello frame. */
  named(attachment: string): void {
    this.#attachment = attachment;
    for (const bytes of this.#early.splice(0)) this.#input.push(bytes);
    if (this.#size.cols !== this.#asked.cols || this.#size.rows !== this.#asked.rows)
      void this.#tell("resize", this.#size);
    if (this.#hidden) void this.#tell("hide");
  }

  write(bytes: Uint8Array): void {
    if (this.#attachment) this.#input.push(bytes);
    else this.#early.push(bytes);
  }

  resize(size: Size): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    if (!this.#attachment) return; // told once the attachment has its name
    this.#resizes++;
    void this.#tell("resize", size).then(() => this.#resizes--);
  }

  /** True while a size that we asked for is on its way: what comes back meanwhile is older. */
  get resizing(): boolean {
    return this.#resizes > 0;
  }

  hide(): void {
    if (this.#hidden) return;
    this.#hidden = true;
    void this.#tell("hide");
  }

  show(): void {
    if (!this.#hidden) return;
    this.#hidden = false;
    void this.#tell("show");
  }

  /** Says that everything up to seq is on the screen. */
  drawn(seq: number): void {
    if (seq > this.#drawn) this.#drawn = seq;
    if (this.#drawn - this.#acked >= ackEvery) void this.#ack();
  }

  /** Starts counting at a snapshot, which may lie anywhere. */
  restart(seq: number): void {
    this.#drawn = seq;
    void this.#ack();
  }

  /** Takes note of the end frame. */
  ended(): void {
    this.#over = true;
    this.#input.close();
  }

  dispose(): void {
    if (this.#abort.signal.aborted) return;
    void this.#tell("close");
    this.#input.close();
    this.#abort.abort();
  }

  async #ack(): Promise<void> {
    if (this.#acking || this.#over) return;
    this.#acking = true;
    this.#acked = this.#drawn;
    try {
      await this.#post("ack", JSON.stringify({ seq: this.#acked }));
    } catch {
      this.#end();
    }
    this.#acking = false;
    if (this.#drawn - this.#acked >= ackEvery) void this.#ack();
  }

  async #tell(act: string, what?: object): Promise<void> {
    if (!this.#attachment || this.#over || this.#abort.signal.aborted) return;
    try {
      await this.#post(act, JSON.stringify(what ?? {}));
    } catch {
      this.#end();
    }
  }

  async #post(act: string, body: string | Uint8Array): Promise<void> {
    const response = await fetch(`termic/term/${this.#attachment}/${act}`, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      keepalive: act === "close",
    });
    if (!response.ok && act !== "close") throw new Error(`answer ${response.status}`);
  }

  /** Gives up on a stream whose requests fail; the reader then says that it is lost. */
  #end(): void {
    this.#input.close();
    this.#abort.abort();
  }

  async #read(task: string, tab: string): Promise<void> {
    const { cols, rows } = this.#size;
    const path = `termic/term/${encodeURIComponent(task)}/${encodeURIComponent(tab)}/out`;
    try {
      const response = await fetch(`${path}?page=${pageName}&cols=${cols}&rows=${rows}`, {
        signal: this.#abort.signal,
      });
      if (!response.ok || !response.body) throw new Error(`answer ${response.status}`);
      const reader = response.body.getReader();
      const frames = new FrameReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (const frame of frames.push(value)) this.#events.frame(frame);
      }
    } catch {
      // That it broke is all there is to know.
    }
    this.ended();
    this.#events.lost();
  }
}
