import { describe, expect, test } from "vitest";
import { FrameReader } from "./frames";
import { packed, unpack } from "./unpack";

const bytes = (text: string) => [...new TextEncoder().encode(text)];
const text = (data: Uint8Array) => new TextDecoder().decode(data);
const of = (size: number, ...block: number[]) => new Uint8Array([0, 0, size >> 8, size & 255, ...block]);
const most = 1 << 20;

describe("unpack", () => {
  test.each([
    ["plain bytes", of(3, 0x30, ...bytes("abc")), "abc"],
    ["a match behind plain bytes", of(11, 0x30, ...bytes("abc"), 3, 0, 0x40, ...bytes("wxyz")), "abcabcawxyz"],
    ["a match that reaches into itself", of(10, 0x11, ...bytes("a"), 1, 0, 0x40, ...bytes("wxyz")), "aaaaaawxyz"],
    ["long plain bytes", of(300, 0xf0, 255, 30, ...bytes("x".repeat(300))), "x".repeat(300)],
    [
      "a long match",
      of(600, 0x1f, ...bytes("y"), 1, 0, 255, 255, 65, 0x50, ...bytes("12345")),
      `${"y".repeat(595)}12345`,
    ],
  ])("%s", (_name, data, want) => {
    expect(text(unpack(data, most))).toBe(want);
  });

  test.each([
    ["more than there may be", of(300, 0xf0, 255, 30, ...bytes("x".repeat(300))), 299],
    ["bytes that are not there", of(9, 0x90, ...bytes("abc")), most],
    ["more bytes than were said", of(2, 0x30, ...bytes("abc")), most],
    ["fewer bytes than were said", of(4, 0x30, ...bytes("abc")), most],
    ["a match before the beginning", of(9, 0x10, ...bytes("a"), 2, 0, 0x40, ...bytes("wxyz")), most],
    ["a match at no distance", of(9, 0x10, ...bytes("a"), 0, 0, 0x40, ...bytes("wxyz")), most],
    ["a match longer than was said", of(4, 0x1f, ...bytes("a"), 1, 0, 255, 0, 0x10, ...bytes("z")), most],
    ["an end within a length", of(300, 0xf0, 255), most],
    ["nothing", of(0), most],
  ])("refuses %s", (_name, data, limit) => {
    expect(() => unpack(data, limit)).toThrow();
  });

  test("frames come as they were", () => {
    const data = of(11, 0x30, ...bytes("abc"), 3, 0, 0x40, ...bytes("wxyz"));
    const head = new DataView(new ArrayBuffer(17));
    head.setUint32(0, 5);
    head.setUint8(4, 3 | packed);
    head.setUint32(9, 11);
    head.setUint32(13, data.length);
    const [frame] = new FrameReader().push(new Uint8Array([...new Uint8Array(head.buffer), ...data]));
    expect([frame?.channel, frame?.kind, frame?.seq, frame && text(frame.data)]).toEqual([5, 3, 11, "abcabcawxyz"]);
  });
});
