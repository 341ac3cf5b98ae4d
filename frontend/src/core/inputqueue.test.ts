import { expect, test } from "vitest";
import { InputQueue } from "./inputqueue";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (sent: Uint8Array) => new TextDecoder().decode(sent);

/** A sender whose requests are answered by hand. */
function slow() {
  const sent: string[] = [];
  const answers: { resolve: () => void; reject: (cause: Error) => void }[] = [];
  const send = (piece: Uint8Array) => {
    sent.push(text(piece));
    return new Promise<void>((resolve, reject) => answers.push({ resolve, reject }));
  };
  return { sent, answers, send };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

test("one request is in flight, and what is typed meanwhile goes together in the next", async () => {
  const { sent, answers, send } = slow();
  const queue = new InputQueue(send, () => {});
  for (const letter of "hello") queue.push(bytes(letter));
  expect(sent).toEqual(["h"]);
  answers[0]?.resolve();
  await turn();
  expect(sent).toEqual(["h", "ello"]);
  queue.push(bytes("!"));
  answers[1]?.resolve();
  await turn();
  expect(sent.join("")).toBe("hello!");
});

test("a paste of a megabyte goes in pieces and in order", async () => {
  const sent: Uint8Array[] = [];
  const queue = new InputQueue(
    async (piece) => {
      sent.push(piece.slice());
    },
    () => {},
  );
  const big = Uint8Array.from({ length: 1 << 20 }, (_, i) => i % 251);
  queue.push(big);
  while (sent.reduce((sum, piece) => sum + piece.length, 0) < big.length) await turn();
  expect(sent.length).toBe(4);
  let at = 0;
  for (const piece of sent) {
    expect(piece.every((byte, i) => byte === big[at + i])).toBe(true);
    at += piece.length;
  }
});

test("after a failure nothing more is typed, and it is told once", async () => {
  const { sent, answers, send } = slow();
  let failures = 0;
  const queue = new InputQueue(send, () => failures++);
  queue.push(bytes("a"));
  queue.push(bytes("b"));
  answers[0]?.reject(new Error("gone"));
  await turn();
  queue.push(bytes("c"));
  await turn();
  expect(sent).toEqual(["a"]);
  expect(failures).toBe(1);
});
