/** Most bytes in one request. A paste of a megabyte goes in pieces, in order. */
const maxPiece = 256 << 10;

/**
 * Sends what is typed, in order: one request is in flight, and what is typed meanwhile goes together in the next one.
 * A request that fails ends the queue; what waits is dropped, since typing it later would type it out of place.
 */
export class InputQueue {
  readonly #send: (bytes: Uint8Array) => Promise<void>;
  readonly #failed: (cause: unknown) => void;
  #waiting: Uint8Array[] = [];
  #running = false;
  #closed = false;

  constructor(send: (bytes: Uint8Array) => Promise<void>, failed: (cause: unknown) => void) {
    this.#send = send;
    this.#failed = failed;
  }

  push(bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return;
    this.#waiting.push(bytes);
    if (!this.#running) void this.#run();
  }

  close(): void {
    this.#closed = true;
    this.#waiting = [];
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#send(this.#take());
      } catch (cause) {
        if (!this.#closed) this.#failed(cause);
        this.close();
      }
    }
    this.#running = false;
  }

  #take(): Uint8Array {
    const all = concat(this.#waiting);
    const piece = all.subarray(0, maxPiece);
    this.#waiting = piece.length < all.length ? [all.subarray(maxPiece)] : [];
    return piece;
  }
}

function concat(parts: Uint8Array[]): Uint8Array {
  const [first, ...rest] = parts;
  if (first && rest.length === 0) return first;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
