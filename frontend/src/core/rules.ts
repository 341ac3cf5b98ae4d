import type { Firing, Happening, RuleView, Schedule, ScheduleAddParams, Trigger } from "../gen/api";

/** The kinds of event: what a lane of them is called, what it means, and facts that a trigger can ask for. */
export const eventKinds = [
  ["task_settled", "Tasks settle", "An agent settled, asks something, or ended.", "outcome=done"],
  ["branch_moved", "Branches move", "The branch of a task, or its base, has another commit.", "base=true"],
  ["check_flip", "Checks flip", "A target of a check went up or down.", "up=false"],
  ["schedule_fired", "Schedules run", "A schedule ran.", ""],
  ["webhook", "Requests come", "A signed request came to the browser face.", "body.status=red"],
] as const;
export type EventKind = (typeof eventKinds)[number][0];

export const kindTitle = (kind: string): string => eventKinds.find(([name]) => name === kind)?.[1] ?? kind;

/** A sentence about events, with the kinds as the window calls them. */
export const inWords = (text: string): string =>
  eventKinds.reduce((said, [kind, title]) => said.replace(new RegExp(`\\b${kind}\\b`, "g"), `“${title}”`), text);

/** The mark of what followed from an event. */
export function followMark(event: Pick<Happening, "acted" | "unacted">) {
  if (event.unacted > 0 && event.acted === 0)
    return { tone: "bad", color: "c-red", word: "Nothing came of it" } as const;
  if (event.unacted > 0) return { tone: "mixed", color: "c-amber", word: "Some of it followed" } as const;
  if (event.acted > 0) return { tone: "good", color: "c-green", word: "Followed" } as const;
  return { tone: "quiet", color: "t3", word: "Nothing follows it" } as const;
}

const firings = {
  waiting: { icon: "waiting", color: "c-blue", word: "Will act" },
  acting: { icon: "working", color: "c-blue", word: "Acts" },
  done: { icon: "done", color: "c-green", word: "Done" },
  refused: { icon: "failed", color: "c-red", word: "Refused" },
  failed: { icon: "failed", color: "c-red", word: "Failed" },
  held: { icon: "stopped", color: "c-amber", word: "Held back" },
  skipped: { icon: "stopped", color: "t3", word: "Left out" },
  missed: { icon: "warning", color: "c-amber", word: "Missed" },
  unknown: { icon: "warning", color: "c-amber", word: "Cut short" },
} as const;

/** The mark of what came of a firing. */
export function firingMark(firing: Pick<Firing, "outcome">) {
  return firings[firing.outcome as keyof typeof firings] ?? firings.unknown;
}

/** Whether a rule acts. */
export function ruleMark(rule: Pick<RuleView, "enabled" | "stopped">) {
  if (rule.stopped) return { icon: "warning", color: "c-amber", word: "Stopped" } as const;
  if (!rule.enabled) return { icon: "stopped", color: "t3", word: "Off" } as const;
  return { icon: "done", color: "c-green", word: "On" } as const;
}

/** What a rule does, in words. */
export function ruleDoes(rule: Pick<RuleView, "do" | "task" | "into" | "task_name">): string {
  return rule.do === "task_send" ? `prompts ${rule.task}` : `creates ${rule.into}/${rule.task_name}`;
}

/** When a schedule is due, in words. */
export function scheduleTimes(one: Pick<Schedule, "cron" | "every" | "zone">): string {
  if (one.every) return `every ${plainLength(one.every)}`;
  return one.zone ? `${one.cron} in ${one.zone}` : (one.cron ?? "");
}

/** A length as Go writes it, without the zeros: "1h0m0s" is "1h". */
export const plainLength = (go: string): string => go.replace(/(?<=\D)0s$/, "").replace(/(?<=h)0m$/, "") || go;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How far away a moment is, in the largest unit that says enough: "in 5 min", "in 3 h", "in 2 days", "now". */
export function ahead(time: string, now: Date): string {
  const left = new Date(time).getTime() - now.getTime();
  if (Number.isNaN(left)) return "";
  if (left < minute / 2) return left < -minute ? "due" : "now";
  if (left < hour - minute / 2) return `in ${Math.max(1, Math.round(left / minute))} min`;
  if (left < day) return `in ${Math.round(left / hour)} h`;
  const days = Math.round(left / day);
  return days === 1 ? "in 1 day" : `in ${days} days`;
}

/** The stretches of time that the picture of events shows. */
export const spans = [
  ["1h", "Hour", hour],
  ["24h", "Day", day],
  ["168h", "Week", 7 * day],
] as const;
export type Span = (typeof spans)[number][0];

/** A mark in a lane: events so close to one another that one mark stands for them, the newest first. */
export interface Mark {
  /** Where it stands, from 0 at the beginning to 1 now. */
  at: number;
  events: Happening[];
  tone: ReturnType<typeof followMark>["tone"];
}

/** How close two marks may come, as a part of the width. */
const close = 0.014;
const worst = ["quiet", "good", "mixed", "bad"] as const;

/** The lanes of the picture, each kind its own, in a fixed order; marks from the left. */
export function lanes(events: readonly Happening[], now: Date, span: number): { kind: EventKind; marks: Mark[] }[] {
  const begin = now.getTime() - span;
  return eventKinds.map(([kind]) => {
    const marks: Mark[] = [];
    const mine = events.filter((one) => one.kind === kind).sort((a, b) => a.seq - b.seq);
    for (const event of mine) {
      const at = Math.min(1, (new Date(event.time).getTime() - begin) / span);
      if (!(at >= 0)) continue;
      const tone = followMark(event).tone;
      const last = marks.at(-1);
      if (last && at - last.at < close) {
        last.events.unshift(event);
        if (worst.indexOf(tone) > worst.indexOf(last.tone)) last.tone = tone;
      } else marks.push({ at, events: [event], tone });
    }
    return { kind, marks };
  });
}

/** The places of the axis: whole hours or days, from the left, each with its words. */
export function ticks(now: Date, span: number): { at: number; words: string }[] {
  const step = span <= hour ? 10 * minute : span <= day ? 4 * hour : day;
  const begin = now.getTime() - span;
  const first = new Date(begin);
  if (step < hour) first.setMinutes(Math.ceil(first.getMinutes() / 10) * 10, 0, 0);
  else if (step < day) first.setHours(Math.ceil((first.getHours() + 1) / 4) * 4, 0, 0, 0);
  else first.setHours(24, 0, 0, 0);
  const out = [];
  const pad = (n: number) => String(n).padStart(2, "0");
  for (let time = first; time.getTime() < now.getTime(); time = new Date(time.getTime() + step)) {
    const at = (time.getTime() - begin) / span;
    if (at < 0 || at > 0.97) continue;
    const words =
      step < day ? `${pad(time.getHours())}:${pad(time.getMinutes())}` : `${time.getDate()}.${time.getMonth() + 1}.`;
    out.push({ at, words });
  }
  return out;
}

/** The facts of an event as lines, by name. */
export function factLines(event: Pick<Happening, "facts">): [string, string][] {
  if (typeof event.facts !== "object" || event.facts === null) return [];
  return Object.entries(event.facts)
    .map(([name, value]): [string, string] => [name, typeof value === "string" ? value : JSON.stringify(value)])
    .filter(([, value]) => value !== "");
}

/** What an event says of itself in one line, by its kind. */
export function eventSays(event: Pick<Happening, "kind" | "facts">): string {
  const facts = Object.fromEntries(factLines(event));
  switch (event.kind) {
    case "task_settled":
      return (
        { done: "settled", needs_input: "asks something", ended: "ended by itself" }[facts.outcome ?? ""] ?? "settled"
      );
    case "branch_moved":
      return facts.gone === "true" ? "is gone" : `moved to ${(facts.new ?? "").slice(0, 8)}`;
    case "check_flip":
      return `${facts.target ?? ""} is ${facts.up === "true" ? "up" : "down"}`;
    case "schedule_fired":
      return facts.by_hand ? "ran by hand" : "ran";
  }
  return `${facts.bytes ?? "0"} bytes`;
}

type Cage = "" | NonNullable<ScheduleAddParams["sandbox"]>;

/** What the form of a rule holds, as it was typed. */
export interface WorkDraft {
  do: "task_new" | "task_send";
  task: string;
  into: string;
  taskName: string;
  agent: string;
  sandbox: Cage;
  prompt: string;
  withFacts: boolean;
}

export function workDraft(rule?: RuleView, project = ""): WorkDraft {
  return {
    do: rule?.do === "task_send" ? "task_send" : "task_new",
    task: rule?.task ?? "",
    into: rule?.into ?? project,
    taskName: rule?.task_name ?? "",
    agent: rule?.agent ?? "",
    sandbox: (rule?.sandbox ?? "") as Cage,
    prompt: rule?.prompt ?? "",
    withFacts: rule?.with_facts ?? false,
  };
}

export function workComplete(draft: WorkDraft): boolean {
  if (draft.do === "task_send") return draft.task.trim() !== "" && draft.prompt.trim() !== "";
  return draft.into !== "" && draft.taskName.trim() !== "" && !(draft.withFacts && draft.prompt.trim() === "");
}

/** The arguments of a rule's work: changed says that there was a rule before, from which the facts may be taken out. */
export function workParams(draft: WorkDraft, changed = false) {
  const facts = draft.withFacts ? { withFacts: true } : changed ? { noFacts: true } : {};
  if (draft.do === "task_send") return { do: draft.do, task: draft.task.trim(), prompt: draft.prompt, ...facts };
  return {
    do: draft.do,
    into: draft.into,
    taskName: draft.taskName.trim(),
    ...(draft.agent ? { agent: draft.agent } : {}),
    ...(draft.sandbox ? { sandbox: draft.sandbox } : {}),
    ...(draft.prompt.trim() ? { prompt: draft.prompt } : {}),
    ...facts,
  };
}

/** Facts as they are typed, one on each line. */
export const factList = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Which events a trigger follows, for trigger_update: what was taken out is said. */
export function matchUpdate(draft: { subject: string; project: string; facts: string }, was: Trigger) {
  const facts = factList(draft.facts);
  return {
    ...(draft.subject.trim() ? { subject: draft.subject.trim() } : was.subject ? { anySubject: true } : {}),
    ...(draft.project ? { project: draft.project } : was.project_id ? { anyProject: true } : {}),
    ...(facts.length > 0 ? { facts } : was.facts.length > 0 ? { anyFacts: true } : {}),
  };
}
