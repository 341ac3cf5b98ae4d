/** What the page says of one terminal. What is left out has not changed. */
export interface Tiding {
  /** Everything up to this number of printed bytes is on the screen. */
  ack?: number;
  cols?: number;
  rows?: number;
  hidden?: boolean;
  /** The end of what is printed is shown, and nothing of it is held fast. */
  follows?: boolean;
  close?: true;
}

/**
 * Tells the app how the page's terminals stand: one request is in flight, and what changes meanwhile goes together in the
 * next one, of each thing the last. So nothing overtakes, and however fast a divider is dragged, one size is on its way.
 */
export class Tidings {
  readonly #send: (body: string) => Promise<void>;
  #waiting = new Map<number, Tiding>();
  #flying = new Map<number, Tiding>();
  #running = false;

  /** A send that fails drops what waits; what its failure means is for whoever sends. */
  constructor(send: (body: string) => Promise<void>) {
    this.#send = send;
  }

  tell(channel: number, what: Tiding): void {
    this.#waiting.set(channel, { ...this.#waiting.get(channel), ...what });
    if (!this.#running) void this.#run();
  }

  /** Whether a size of that terminal waits or is on its way. */
  resizing(channel: number): boolean {
    return this.#waiting.get(channel)?.cols !== undefined || this.#flying.get(channel)?.cols !== undefined;
  }

  /** Forgets what waits: there is nobody left to tell. */
  drop(): void {
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.size > 0) {
      this.#flying = this.#waiting;
      this.#waiting = new Map();
      try {
        await this.#send(JSON.stringify([...this.#flying].map(([ch, what]) => ({ ch, ...what }))));
      } catch {
        this.drop();
      }
      this.#flying = new Map();
    }
    this.#running = false;
  }
}
