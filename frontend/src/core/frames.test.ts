import { describe, expect, test } from "vitest";
import { FrameReader } from "./frames";

function frame(kind: number, seq: number, data: number[]): number[] {
  const head = new DataView(new ArrayBuffer(13));
  head.setUint8(0, kind);
  head.setUint32(1, Math.floor(seq / 2 ** 32));
  head.setUint32(5, seq % 2 ** 32);
  head.setUint32(9, data.length);
  return [...new Uint8Array(head.buffer), ...data];
}

const stream = [...frame(0, 0, [123, 125]), ...frame(3, 2 ** 40 + 7, [1, 2, 3]), ...frame(6, 0, [])];

describe("FrameReader", () => {
  test("gives the same frames however the stream is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const reader = new FrameReader();
      const frames = [];
      for (let at = 0; at < stream.length; at += size)
        frames.push(...reader.push(new Uint8Array(stream.slice(at, at + size))));
      expect(frames.map(({ kind, seq, data }) => [kind, seq, [...data]])).toEqual([
        [0, 0, [123, 125]],
        [3, 2 ** 40 + 7, [1, 2, 3]],
        [6, 0, []],
      ]);
    }
  });

  test("refuses a length that no frame has", () => {
    const head = frame(3, 1, []);
    head.splice(9, 4, 255, 255, 255, 255);
    expect(() => new FrameReader().push(new Uint8Array(head))).toThrow(/4294967295/);
  });
});
