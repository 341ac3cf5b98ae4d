import { describe, expect, test } from "vitest";
import { type Frame, FrameReader } from "./frames";

function frame(channel: number, kind: number, seq: number, data: number[]): number[] {
  const head = new DataView(new ArrayBuffer(17));
  head.setUint32(0, channel);
  head.setUint8(4, kind);
  head.setUint32(5, Math.floor(seq / 2 ** 32));
  head.setUint32(9, seq % 2 ** 32);
  head.setUint32(13, data.length);
  return [...new Uint8Array(head.buffer), ...data];
}

const long = Array.from({ length: 300 }, (_, i) => i % 256);
const stream = [
  ...frame(0, 7, 0, []),
  ...frame(1, 0, 0, [123, 125]),
  ...frame(2 ** 32 - 1, 3, 2 ** 40 + 7, [1, 2, 3]),
  ...frame(2, 3, 300, long),
  ...frame(1, 6, 0, []),
];

describe("FrameReader", () => {
  test("gives the same frames however the stream is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const reader = new FrameReader();
      const frames: Frame[] = [];
      for (let at = 0; at < stream.length; at += size)
        frames.push(...reader.push(new Uint8Array(stream.slice(at, at + size))));
      expect(frames.map(({ channel, kind, seq, data }) => [channel, kind, seq, [...data]])).toEqual([
        [0, 7, 0, []],
        [1, 0, 0, [123, 125]],
        [2 ** 32 - 1, 3, 2 ** 40 + 7, [1, 2, 3]],
        [2, 3, 300, long],
        [1, 6, 0, []],
      ]);
    }
  });

  test("refuses a length that no frame has", () => {
    const head = frame(1, 3, 1, []);
    head.splice(13, 4, 255, 255, 255, 255);
    expect(() => new FrameReader().push(new Uint8Array(head))).toThrow(/4294967295/);
  });
});
