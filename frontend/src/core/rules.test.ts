import { describe, expect, it } from "vitest";
import type { Happening, Trigger } from "../gen/api";
import {
  ahead,
  eventSays,
  factList,
  followMark,
  inWords,
  lanes,
  matchUpdate,
  plainLength,
  ticks,
  workComplete,
  workDraft,
  workParams,
} from "./rules";

const now = new Date("2026-11-30T12:00:00Z");
const event = (seq: number, minutesAgo: number, more: Partial<Happening> = {}): Happening => ({
  id: `E${seq}`,
  seq,
  time: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
  kind: "webhook",
  subject: "ci",
  facts: {},
  acted: 0,
  unacted: 0,
  ...more,
});

describe("lanes", () => {
  it("puts each kind into its own lane, and what is close together into one mark that has the worst of them", () => {
    const all = lanes(
      [
        event(1, 50),
        event(2, 30, { acted: 1 }),
        event(3, 29.9, { unacted: 1 }),
        event(4, 70),
        event(5, 1, { kind: "check_flip" }),
      ],
      now,
      3_600_000,
    );
    const hooks = all.find((lane) => lane.kind === "webhook")?.marks ?? [];
    expect(hooks.map((mark) => [mark.events.map((one) => one.id).join(), mark.tone])).toEqual([
      ["E1", "quiet"],
      ["E3,E2", "bad"],
    ]);
    expect(hooks[0]?.at).toBeCloseTo(10 / 60);
    expect(all.find((lane) => lane.kind === "check_flip")?.marks.length).toBe(1);
    expect(all.length).toBe(5);
  });
  it("has an axis within the picture", () => {
    for (const span of [3_600_000, 86_400_000, 7 * 86_400_000]) {
      const axis = ticks(now, span);
      expect(axis.length).toBeGreaterThan(3);
      expect(axis.every((tick) => tick.at >= 0 && tick.at <= 1)).toBe(true);
    }
  });
});

describe("words", () => {
  it("say how far away a run is", () => {
    const at = (seconds: number) => ahead(new Date(now.getTime() + seconds * 1000).toISOString(), now);
    expect([at(5), at(90), at(3500), at(3 * 3600), at(26 * 3600), at(80 * 3600), at(-3600)]).toEqual([
      "now",
      "in 2 min",
      "in 58 min",
      "in 3 h",
      "in 1 day",
      "in 3 days",
      "due",
    ]);
  });
  it("leave the zeros of lengths out", () => {
    expect(["1h0m0s", "30m0s", "5s", "1h30m0s", "1h0m30s", "10s"].map(plainLength)).toEqual([
      "1h",
      "30m",
      "5s",
      "1h30m",
      "1h0m30s",
      "10s",
    ]);
  });
  it("say what followed, and what an event is about", () => {
    expect(
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 1],
      ].map(([acted = 0, unacted = 0]) => followMark({ acted, unacted }).tone),
    ).toEqual(["quiet", "good", "mixed", "bad"]);
    expect(eventSays({ kind: "task_settled", facts: { outcome: "needs_input" } })).toBe("asks something");
    expect(eventSays({ kind: "check_flip", facts: { target: "x:1", up: false } })).toBe("x:1 is down");
    expect(eventSays({ kind: "branch_moved", facts: { new: "0123456789ab" } })).toBe("moved to 01234567");
  });
});

describe("a form", () => {
  it("asks for what the work needs, and sends nothing else", () => {
    const draft = { ...workDraft(undefined, "web"), taskName: " night {date} " };
    expect(workComplete(draft)).toBe(true);
    expect(workParams(draft)).toEqual({ do: "task_new", into: "web", taskName: "night {date}" });
    expect(workComplete({ ...draft, withFacts: true })).toBe(false);
    expect(workComplete({ ...draft, do: "task_send", task: "x" })).toBe(false);
    expect(workParams({ ...draft, do: "task_send", task: "x", prompt: "go", withFacts: true })).toEqual({
      do: "task_send",
      task: "x",
      prompt: "go",
      withFacts: true,
    });
  });
  it("says what was taken out of a trigger", () => {
    const was = { subject: "a*", project_id: "P", facts: ["outcome=done"] } as unknown as Trigger;
    expect(matchUpdate({ subject: "", project: "", facts: "\n" }, was)).toEqual({
      anySubject: true,
      anyProject: true,
      anyFacts: true,
    });
    expect(matchUpdate({ subject: "b", project: "web", facts: "up=true\n x=y " }, was)).toEqual({
      subject: "b",
      project: "web",
      facts: ["up=true", "x=y"],
    });
    expect(factList("")).toEqual([]);
  });
});

it("calls the kinds of events as the window does", () => {
  expect(inWords("It follows events of the kind task_settled.")).toBe("It follows events of the kind “Tasks settle”.");
  expect(inWords("The task my_task_settled_x is gone")).toBe("The task my_task_settled_x is gone");
});
