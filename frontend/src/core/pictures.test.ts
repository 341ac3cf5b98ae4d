import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { floodGap, Pictures } from "./pictures";

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(1_000_000);
});
afterEach(() => {
  vi.useRealTimers();
});

function drawn() {
  const list: { at: number; rows: [number, number] }[] = [];
  const began = Date.now();
  const pictures = new Pictures((start, end) => list.push({ at: Date.now() - began, rows: [start, end] }), Date.now);
  return { list, pictures };
}

/** Prints and changes every ten milliseconds, as a flood of 6 MB/s does. */
function flood(pictures: Pictures, milliseconds: number): void {
  for (let at = 0; at < milliseconds; at += 10) {
    pictures.printed(64 << 10);
    pictures.changed(3, 20);
    vi.advanceTimersByTime(10);
  }
}

test("what an agent draws is seen at once, each time", () => {
  const { list, pictures } = drawn();
  for (let i = 0; i < 60; i++) {
    pictures.printed(4 << 10); // 240 KB/s
    pictures.changed(0, 39);
    expect(list).toHaveLength(i + 1);
    vi.advanceTimersByTime(17);
  }
});

test("a flood gets few pictures, and the last one has all of it", () => {
  const { list, pictures } = drawn();
  flood(pictures, 2000);
  pictures.changed(0, 2);
  pictures.changed(38, 39);
  vi.advanceTimersByTime(floodGap);
  expect(list.length).toBeLessThan(2000 / floodGap + 8);
  expect(list.length).toBeGreaterThan(2000 / floodGap - 8);
  expect(list.at(-1)).toMatchObject({ rows: [0, 39] });
  const after = list.length;
  vi.advanceTimersByTime(5000);
  expect(list).toHaveLength(after);
});

test("soon after a flood every change is seen at once again", () => {
  const { list, pictures } = drawn();
  flood(pictures, 1000);
  vi.advanceTimersByTime(600);
  for (let i = 0; i < 3; i++) {
    const before = list.length;
    pictures.changed(i, i);
    expect(list).toHaveLength(before + 1);
  }
});

test("whoever does something sees what waited, and every picture from then on", () => {
  const { list, pictures } = drawn();
  flood(pictures, 505);
  pictures.changed(7, 7);
  const before = list.length;
  pictures.touched();
  expect(list).toHaveLength(before + 1);
  expect(list.at(-1)?.rows[1]).toBeGreaterThanOrEqual(7);
  flood(pictures, 200);
  expect(list).toHaveLength(before + 1 + 20);
  flood(pictures, 400); // and then nobody does anything any more
  expect(list.length).toBeLessThan(before + 21 + 6 + 400 / floodGap);
});

test("what was disposed draws nothing any more", () => {
  const { list, pictures } = drawn();
  flood(pictures, 505);
  pictures.changed(1, 1);
  const before = list.length;
  pictures.dispose();
  vi.advanceTimersByTime(1000);
  expect(list).toHaveLength(before);
});

test("the next picture of a flood is asked for some time later, and at once by whoever is there", () => {
  const { pictures } = drawn();
  const asked: number[] = [];
  const began = Date.now();
  const ask = () => asked.push(Date.now() - began);
  vi.advanceTimersByTime(1000);
  pictures.next(ask);
  expect(asked).toEqual([]);
  vi.advanceTimersByTime(floodGap);
  expect(asked).toEqual([1000 + floodGap]);
  pictures.next(ask);
  vi.advanceTimersByTime(10);
  pictures.touched();
  expect(asked).toHaveLength(2);
  pictures.next(ask);
  expect(asked).toHaveLength(3);
  vi.advanceTimersByTime(1000);
  expect(asked).toHaveLength(3);
  pictures.next(ask);
  pictures.dispose();
  vi.advanceTimersByTime(1000);
  expect(asked).toHaveLength(3);
});
