/** The kinds of frames in a terminal's stream; the numbers are those of app/webface/wire.go. */
export const FrameKind = { hello: 0, snapshot: 1, replay: 2, output: 3, resize: 4, exit: 5, end: 6 } as const;
export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

/** One piece of a terminal's stream. */
export interface Frame {
  kind: number;
  /** Bytes printed up to the end of this frame: what to acknowledge once it is drawn. */
  seq: number;
  data: Uint8Array;
}

const headLength = 1 + 8 + 4;
/** More than any frame that the app sends. A longer one means that the stream is not what we think. */
const maxData = 16 << 20;

/** Cuts a stream of chunks, which end anywhere, into frames. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #have = 0;

  /** Takes one chunk and returns the frames that are complete with it. Throws when the stream is broken. */
  push(chunk: Uint8Array): Frame[] {
    if (chunk.length > 0) {
      this.#parts.push(chunk);
      this.#have += chunk.length;
    }
    const frames: Frame[] = [];
    for (;;) {
      if (this.#have < headLength) return frames;
      const buffer = this.#joined();
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      const length = view.getUint32(9);
      if (length > maxData) throw new Error(`a frame of ${length} bytes`);
      const end = headLength + length;
      if (buffer.length < end) return frames;
      frames.push({
        kind: view.getUint8(0),
        seq: view.getUint32(1) * 2 ** 32 + view.getUint32(5),
        data: buffer.subarray(headLength, end),
      });
      this.#parts = end < buffer.length ? [buffer.subarray(end)] : [];
      this.#have = buffer.length - end;
    }
  }

  /** The bytes at hand as one array; joined only when more than one chunk waits. */
  #joined(): Uint8Array {
    const [first, ...rest] = this.#parts;
    if (first && rest.length === 0) return first;
    const all = new Uint8Array(this.#have);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    this.#parts = [all];
    return all;
  }
}
