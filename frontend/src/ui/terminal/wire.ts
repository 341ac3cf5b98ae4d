import type { Disposable } from "../../core/disposable";
import { type Frame, FrameKind, FrameReader } from "../../core/frames";
import { type Tiding, Tidings } from "../../core/tidings";
import { pageName } from "../transport";

/** One terminal on the wire. Frames come in order; lost comes once, when the wire broke. */
export interface Channel {
  frame(frame: Frame): void;
  lost(): void;
}

/** Waits before what is typed is offered again to a program that does not read, in milliseconds. */
const offers = [50, 200, 500, 1000];

/**
 * The page's one stream of what its terminals print. It is opened with the first terminal and stays; a wire that broke
 * loses all of its terminals, and is opened again with the next one.
 */
export class Wire implements Disposable {
  readonly #channels = new Map<number, Channel>();
  readonly #tidings = new Tidings((body) => this.#told(body));
  #last = 0; // number of the channel that was made last: none is used twice
  #life: AbortController | undefined; // of the stream that is open or being opened
  #opened: Promise<void> = Promise.resolve();

  /** Joins a terminal. What comes of it is told to the channel; tell, type and leave take the number that is returned. */
  join(channel: Channel, what: { task: string; tab: string; cols: number; rows: number }): number {
    const number = ++this.#last;
    this.#channels.set(number, channel);
    this.#open()
      .then(async () => {
        if (!this.#channels.has(number)) return;
        if (!(await ask(`${number}/attach`, JSON.stringify(what))).ok) this.#lose(number);
      })
      .catch(() => this.#lose(number));
    return number;
  }

  tell(number: number, what: Tiding): void {
    if (this.#channels.has(number)) this.#tidings.tell(number, what);
  }

  resizing(number: number): boolean {
    return this.#tidings.resizing(number);
  }

  /** Types, once the app has taken it; throws when the terminal is gone. */
  async type(number: number, bytes: Uint8Array): Promise<void> {
    for (let tries = 0; this.#channels.has(number); tries++) {
      const answer = await ask(`${number}/in`, new Uint8Array(bytes));
      if (answer.ok) return;
      if (answer.status !== 503) break;
      await new Promise((resolve) => setTimeout(resolve, offers[Math.min(tries, offers.length - 1)]));
    }
    throw new Error("the terminal is gone");
  }

  /** Ends a terminal's channel. Nothing more is told to it. */
  leave(number: number): void {
    this.tell(number, { close: true });
    this.#channels.delete(number);
  }

  /** Takes note that the app has ended a channel. */
  ended(number: number): void {
    this.#channels.delete(number);
  }

  dispose(): void {
    this.#channels.clear();
    this.#life?.abort();
  }

  /** The promise of a stream that is open. */
  #open(): Promise<void> {
    if (this.#life) return this.#opened;
    const life = new AbortController();
    this.#life = life;
    this.#opened = new Promise((resolve, reject) => {
      void this.#read(life, resolve).finally(() => {
        reject(new Error("the stream broke"));
        this.#broke(life);
      });
    });
    return this.#opened;
  }

  async #read(life: AbortController, opened: () => void): Promise<void> {
    try {
      const response = await fetch(`termic/term/out?page=${pageName}`, { signal: life.signal });
      if (!response.ok || !response.body) return;
      const reader = response.body.getReader();
      const frames = new FrameReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        for (const frame of frames.push(value)) {
          if (frame.kind === FrameKind.open) opened();
          else this.#hand(frame);
        }
      }
    } catch {
      // That it broke is all there is to know.
    }
  }

  /** Without what is told the app holds back what it has: a stream that cannot be told anything is of no use. */
  async #told(body: string): Promise<void> {
    const life = this.#life;
    try {
      const answer = await ask("tell", body);
      if (!answer.ok) throw new Error(`answer ${answer.status}`);
    } catch (cause) {
      this.#broke(life);
      throw cause;
    }
  }

  #lose(number: number): void {
    const channel = this.#channels.get(number);
    this.#channels.delete(number);
    channel?.lost();
  }

  /** Gives a frame to its terminal. One that cannot read it is lost, and not the others with it. */
  #hand(frame: Frame): void {
    const channel = this.#channels.get(frame.channel);
    try {
      channel?.frame(frame);
    } catch {
      this.leave(frame.channel);
      channel?.lost();
    }
    // It was left before the app had heard of it, and may have been told so too early.
    if (!channel && frame.kind === FrameKind.hello) this.#tidings.tell(frame.channel, { close: true });
  }

  /** The stream is over: every terminal on it is lost. */
  #broke(life: AbortController | undefined): void {
    if (!life || this.#life !== life) return;
    this.#life = undefined;
    life.abort();
    this.#tidings.drop();
    const lost = [...this.#channels.values()];
    this.#channels.clear();
    for (const channel of lost) channel.lost();
  }
}

function ask(path: string, body: BodyInit): Promise<Response> {
  return fetch(`termic/term/${pageName}/${path}`, { method: "POST", body });
}
