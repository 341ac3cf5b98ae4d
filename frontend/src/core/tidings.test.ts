import { describe, expect, test } from "vitest";
import { Tidings } from "./tidings";

/** A request that the test answers. */
function line() {
  const sent: { ch: number }[][] = [];
  const answers: { done: () => void; fail: () => void }[] = [];
  const send = (body: string) => {
    sent.push(JSON.parse(body) as { ch: number }[]);
    return new Promise<void>((resolve, reject) => answers.push({ done: resolve, fail: () => reject(new Error("no")) }));
  };
  const answer = async (how: "done" | "fail" = "done") => {
    answers.shift()?.[how]();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { sent, answers, answer, send };
}

describe("Tidings", () => {
  test("of a hundred sizes the first and the last are told, one after the other", async () => {
    const { sent, answers, answer, send } = line();
    const tidings = new Tidings(send);
    for (let cols = 1; cols <= 100; cols++) tidings.tell(1, { cols, rows: 24 });
    expect(sent).toEqual([[{ ch: 1, cols: 1, rows: 24 }]]);
    expect(answers.length).toBe(1);
    await answer();
    expect(tidings.resizing(1)).toBe(true);
    expect(sent.slice(1)).toEqual([[{ ch: 1, cols: 100, rows: 24 }]]);
    await answer();
    expect(tidings.resizing(1)).toBe(false);
    expect(sent.length).toBe(2);
  });

  test("what was hidden and shown again ends as shown, and terminals go together", async () => {
    const { sent, answer, send } = line();
    const tidings = new Tidings(send);
    tidings.tell(1, { ack: 1 });
    tidings.tell(1, { hidden: true });
    tidings.tell(2, { ack: 7 });
    tidings.tell(1, { ack: 2 });
    tidings.tell(1, { hidden: false });
    tidings.tell(2, { close: true });
    await answer();
    expect(sent[1]).toEqual([
      { ch: 1, hidden: false, ack: 2 },
      { ch: 2, ack: 7, close: true },
    ]);
  });

  test("one that fails is the end of what waits, and not of what comes", async () => {
    const { sent, answer, send } = line();
    const tidings = new Tidings(send);
    tidings.tell(1, { ack: 1 });
    tidings.tell(1, { ack: 2 });
    await answer("fail");
    expect(sent.length).toBe(1);
    tidings.tell(3, { ack: 3 });
    expect(sent.length).toBe(2);
  });
});
