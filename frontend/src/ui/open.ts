import type { Fault, FileChange, LinkOffer, Project, TabStatus, TaskDetail } from "../gen/api";

// What the page can show: its pages, the tabs of its panel, and its dialogs with what each is about.

/** A sentence for the person without its full stop, and what can be done about it. */
export interface Told {
  message: string;
  hint?: string;
  act?: { label: string; run: () => void };
}

export type PanelTab = "changes" | "refused" | "ledger";
export type Page = "tasks" | "review" | "race" | "settings" | "history" | "activity" | "operations";

/** The lists of the page Activity. */
export const activityTabs = [
  ["approvals", "Approvals"],
  ["jobs", "Jobs"],
  ["ledger", "Ledger"],
] as const;
export type ActivityTab = (typeof activityTabs)[number][0];

/** The lists of the page Operations. */
export const operationTabs = [
  ["checks", "Checks"],
  ["netgroups", "Netgroups"],
  ["schedules", "Schedules"],
  ["triggers", "Triggers"],
  ["events", "Events"],
  ["secrets", "Secrets"],
] as const;
export type OperationTab = (typeof operationTabs)[number][0];

/** The pages that have the sidebar beside them. */
export const sidePages: readonly Page[] = ["tasks", "history", "activity", "operations"];

/** The dialog that is open, with what it is about. */
export type Open =
  | { kind: "newTask"; project?: string; like?: TaskDetail; prompt?: string; link?: LinkOffer }
  | { kind: "addProject"; path?: string }
  | { kind: "archive"; task: TaskDetail }
  | { kind: "apply"; task: TaskDetail }
  | { kind: "discard"; task: TaskDetail; files: FileChange[]; staged: boolean }
  | { kind: "rename"; task: TaskDetail }
  | { kind: "closeTab"; task: TaskDetail; tab: TabStatus }
  | { kind: "renameTab" | "closeOthers"; task: TaskDetail; tab: TabStatus }
  | { kind: "group"; project: Project }
  | { kind: "chooseTab"; task: TaskDetail; to: "right" | "below" | "bottom" }
  | { kind: "stop"; task: TaskDetail }
  | { kind: "queue"; task: TaskDetail }
  | { kind: "broadcast" }
  | { kind: "race"; project?: string; name?: string; prompt?: string }
  | { kind: "signals"; task: TaskDetail; tab: TabStatus }
  | { kind: "adopt"; task: TaskDetail; others: TaskDetail[] }
  | { kind: "sandbox"; task: TaskDetail }
  | { kind: "projectSettings"; project: Project }
  | { kind: "consent"; project: Project }
  | { kind: "refs"; project: Project }
  | { kind: "acceptFiles"; fault: Fault; again: () => Promise<unknown> }
  | { kind: "removeProject"; project: Project }
  | { kind: "palette" }
  | { kind: "quit" | "ended" };
