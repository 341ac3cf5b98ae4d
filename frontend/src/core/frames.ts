import { packed, unpack } from "./unpack";

/** The kinds of frames in the page's stream of terminals; the numbers are those of app/webface/wire.go. */
export const FrameKind = { hello: 0, snapshot: 1, replay: 2, output: 3, resize: 4, exit: 5, end: 6, open: 7 } as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** One piece of the stream. */
export interface Frame {
  /** Which terminal it is about; 0 is none. */
  channel: number;
  kind: number;
  /** Bytes printed up to the end of this frame: what to acknowledge once it is drawn. */
  seq: number;
  data: Uint8Array;
}

const headLength = 4 + 1 + 8 + 4;
/** More than any frame that the app sends. A longer one means that the stream is not what we think. */
const maxData = 16 << 20;

/** Cuts a stream of chunks, which end anywhere, into frames. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #have = 0;
  #need = headLength; // at least so many bytes make the next step possible

  /** Takes one chunk and returns the frames that are complete with it. Throws when the stream is broken. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    if (chunk.length === 0) return frames;
    this.#parts.push(chunk);
    this.#have += chunk.length;
    if (this.#have < this.#need) return frames;
    let buffer = this.#joined();
    for (;;) {
      this.#need = headLength;
      if (buffer.length < headLength) break;
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      const length = view.getUint32(13);
      if (length > maxData) throw new Error(`a frame of ${length} bytes`);
      this.#need = headLength + length;
      if (buffer.length < this.#need) break;
      const kind = view.getUint8(4);
      const data = buffer.subarray(headLength, this.#need);
      frames.push({
        channel: view.getUint32(0),
        kind: kind & ~packed,
        seq: view.getUint32(5) * 2 ** 32 + view.getUint32(9),
        data: kind & packed ? unpack(data, maxData) : data,
      });
      buffer = buffer.subarray(this.#need);
    }
    this.#parts = buffer.length > 0 ? [buffer] : [];
    this.#have = buffer.length;
    return frames;
  }

  /** The bytes at hand as one array; copied only when more than one chunk waits. */
  #joined(): Uint8Array {
    const [first, ...rest] = this.#parts;
    if (first && rest.length === 0) return first;
    const all = new Uint8Array(this.#have);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
