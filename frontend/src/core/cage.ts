// What the window says about cages: what is in force, what is set, what a change ends. No browser is needed here.

import type {
  Cage,
  CageInForce,
  CageLayer,
  CageOffer,
  Project,
  ProjectSettingsParams,
  Repo,
  TaskDetail,
  TaskSandboxParams,
} from "../gen/api";
import { cageName } from "./marks";
import { count } from "./text";

/** The modes, from open to tight. */
export const modes = ["off", "monitor", "enforce-fs", "enforce"] as const;
export type Mode = (typeof modes)[number];

export const modeText: Record<Mode, string> = {
  off: "No cage. The agent can do whatever you can do.",
  monitor: "No cage. Records what a cage would have refused.",
  "enforce-fs": "Sees only its worktree and the paths you list. Any host.",
  enforce: "Files only, and only the hosts you list.",
};

export function modeOf(text: string | undefined): Mode {
  return modes.find((mode) => mode === text) ?? "off";
}

/** True for a mode that puts walls around the agent; Monitor only watches. */
export function hasWalls(mode: string): boolean {
  return mode === "enforce-fs" || mode === "enforce";
}

export function strictest(...all: (string | undefined)[]): Mode {
  return modes[Math.max(...all.map((mode) => modes.indexOf(modeOf(mode))))] ?? "off";
}

// ---- What is in force ----

export interface ShieldState {
  /** What is in force, or what is set where nothing runs. */
  mode: Mode;
  /** What is set differs from what a live agent has: it must be started again to have it. */
  restart: boolean;
  /** No cage, and the agent never asks: nothing stands between it and the computer. */
  open: boolean;
  /** What it is called, for everybody. */
  label: string;
}

/** The cages of the agents that run in a task. */
export function cagesInForce(task: TaskDetail): CageInForce[] {
  return task.tabs.flatMap((tab) => (tab.live && tab.kind === "agent" && tab.cage ? [tab.cage] : []));
}

/** What the shield of a task shows. Where live agents differ, it shows the most open one: a shield may not promise more. */
export function shieldOf(task: TaskDetail): ShieldState {
  const live = cagesInForce(task);
  const stored = modeOf(task.sandbox);
  const mode = live.length === 0 ? stored : (modes.find((one) => live.some((cage) => cage.mode === one)) ?? "off");
  const restart = live.some((cage) => cage.restart || cage.mode !== stored);
  const open = mode === "off" && Boolean(task.yolo);
  const name = open ? "Off, and the agent never asks" : mode === "off" ? "Not caged" : (cageName[mode] ?? mode);
  return { mode, restart, open, label: restart ? `${name}. Restart the agent to apply what is set` : name };
}

/** One line of what is in force: a part of the cage, whether it holds, and what that means. */
export interface ForceLine {
  name: string;
  holds: boolean;
  text: string;
}

/** The report of a live cage in sentences. What the window does not know by name is passed on as it is. */
export function forceLines(cage: CageInForce): ForceLine[] {
  if (!hasWalls(cage.mode)) {
    const watched = cage.mode === "monitor" ? " What a cage would refuse is recorded." : "";
    return [
      { name: "No walls", holds: false, text: `The agent can do whatever you can do.${watched}` },
      ...notes(cage),
    ];
  }
  const walls = cage.walls ?? [];
  const has = (word: string) => walls.some((wall) => wall.toLowerCase().includes(word));
  const kernel = walls.filter((wall) => /landlock|seccomp|capabilit/i.test(wall));
  const other = walls.filter((wall) => !/landlock|seccomp|capabilit|mount|network|pid|process/i.test(wall));
  const lines: ForceLine[] = [
    { name: "Files", holds: true, text: "Only what is listed. The rest does not exist inside." },
    cage.mode === "enforce"
      ? { name: "Network", holds: true, text: "A network of its own. Only the listed hosts, through the task's proxy." }
      : { name: "Network", holds: false, text: "Any host. This mode limits files only." },
  ];
  if (has("pid") || has("process"))
    lines.push({
      name: "Processes",
      holds: true,
      text: "A process tree of its own. Nothing outside can be signalled.",
    });
  if (kernel.length > 0) lines.push({ name: "Kernel", holds: true, text: `${capital(kernel.join(", "))}.` });
  if (other.length > 0) lines.push({ name: "Also", holds: true, text: `${capital(other.join(", "))}.` });
  const limits = cage.limits ?? [];
  if (limits.length > 0)
    lines.push({
      name: "Limits",
      holds: !limits.some((one) => /not limited/i.test(one)),
      text: sentence(limits.join(", ")),
    });
  if (cage.as_root)
    lines.push({
      name: "User",
      holds: true,
      text: "Root, without any of its capabilities.",
    });
  return [...lines, ...notes(cage)];
}

function notes(cage: CageInForce): ForceLine[] {
  return (cage.notes ?? []).map((text) => ({ name: "Note", holds: false, text: sentence(text) }));
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const sentence = (text: string) => capital(/[.!?]$/.test(text) ? text : `${text}.`);

// ---- What can be chosen ----

/** Why a mode cannot be chosen: "" when it can. */
export function refusal(mode: Mode, offers: CageOffer[], repo?: Repo): string {
  if (repo?.mode && modes.indexOf(mode) < modes.indexOf(modeOf(repo.mode)))
    return `The project's .termic.yaml asks for at least “${cageName[modeOf(repo.mode)]}”.`;
  const offer = offers.find((one) => one.mode === mode);
  if (!offer || offer.can) return "";
  return [offer.reason, offer.fix]
    .filter(Boolean)
    .map((text) => sentence(text as string))
    .join(" ");
}

/** The refusals of all modes, each said once, with the modes that it is about. */
export function refusals(offers: CageOffer[], repo?: Repo): { modes: Mode[]; text: string }[] {
  const out: { modes: Mode[]; text: string }[] = [];
  for (const mode of modes) {
    const text = refusal(mode, offers, repo);
    if (!text) continue;
    const same = out.find((one) => one.text === text);
    if (same) same.modes.push(mode);
    else out.push({ modes: [mode], text });
  }
  return out;
}

// ---- What is set ----

/** Everything about a cage that a person may set, of a task or as the default of a project's tasks. */
export interface Knobs {
  mcp: boolean;
  projects: string[];
  agents: string[];
  read: string[];
  write: string[];
  hosts: string[];
}

export const lists = ["projects", "agents", "read", "write", "hosts"] as const;

export function knobsOf(cage: Cage | undefined): Knobs {
  const copy = (list: string[] | undefined) => [...(list ?? [])];
  return {
    mcp: cage?.mcp ?? false,
    projects: copy(cage?.projects),
    agents: copy(cage?.agents),
    read: copy(cage?.read),
    write: copy(cage?.write),
    hosts: copy(cage?.hosts),
  };
}

export function sameList(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

/** What of the knobs differs, as parameters of task_sandbox or project_settings. A list replaces the one there is. */
export function knobChanges(
  before: Knobs,
  after: Knobs,
): Omit<TaskSandboxParams, "task"> & Omit<ProjectSettingsParams, "name" | "sandbox"> {
  const out: Omit<TaskSandboxParams, "task"> & Omit<ProjectSettingsParams, "name" | "sandbox"> = {};
  if (after.mcp !== before.mcp) {
    if (after.mcp) out.mcp = true;
    else out.noMcp = true;
  }
  for (const list of lists) if (!sameList(before[list], after[list])) out[list] = after[list];
  return out;
}

/**
 * What is ticked in a list that means "its own" while it is empty. Ticking more than the own one makes it a list of
 * names, the own one among them; ticking nothing else empties it again. Without an own one (the defaults of a project's
 * tasks, where each has another) the list is what it is.
 */
export function ticked(list: string[], own: string): string[] {
  return list.length === 0 && own ? [own] : list;
}

export function tick(list: string[], own: string, name: string, on: boolean): string[] {
  const others = ticked(list, own).filter((one) => one !== name);
  const next = on ? [...others, name] : others;
  return own && sameList(next, [own]) ? [] : next;
}

// ---- Lines of a cage, and the lists that they come from ----

export type Access = "read" | "write" | "hosts";

export interface CageLine {
  access: Access;
  text: string;
  /** The kind of its layer; see CageLayer. */
  from: string;
  /** Written here and not saved yet. */
  fresh: boolean;
}

/** The layers whose lines can be changed in the dialog of a task. */
export const editable = (from: string) => from === "task" || from === "project";

export function layerName(from: string, agent: string): string {
  const names: Record<string, string> = {
    task: "This task",
    project: "Project",
    repo: ".termic.yaml",
    agent,
    settings: "Settings",
    builtin: "Built in",
    worktree: "Worktree",
    home: "Private copy for this task",
  };
  return names[from] ?? from;
}

/** All lines of some kinds of access, each once per kind of layer: what cannot be changed here first. */
export function linesOf(layers: CageLayer[], saved: CageLayer[], access: Access[]): CageLine[] {
  const order = ["worktree", "home", "agent", "builtin", "settings", "repo", "project", "task"];
  const lines = new Map<string, CageLine>();
  for (const layer of layers) {
    for (const one of access) {
      for (const text of layer[one] ?? []) {
        const fresh = !saved.some((old) => old.kind === layer.kind && old[one]?.includes(text));
        lines.set(`${layer.kind} ${one} ${text}`, { access: one, text, from: layer.kind, fresh });
      }
    }
  }
  return [...lines.values()].sort((a, b) => order.indexOf(a.from) - order.indexOf(b.from));
}

/** The name of the group of hosts, or of the netgroup, that an entry of a list of hosts is about, with its @; empty for a host. */
export function namedIn(entry: string): string {
  return /^!?(@[\w-]+)(:\d+(,\d+)*)?$/.exec(entry)?.[1] ?? "";
}

/** What a host rule may look like. The app reads it again and has the last word. */
export function hostProblem(text: string): string {
  if (!text || namedIn(text)) return "";
  if (/[\s/]|:\/\//.test(text))
    return "Give the name of a host, without a path: api.example.com, *.example.com or 10.0.0.7:8080.";
  if (/\*/.test(text) && text !== "*" && !/^\*\.[^*]+$/.test(text))
    return "A star stands for whole labels at the front: *.example.com.";
  return "";
}

export function pathProblem(text: string): string {
  if (!text || /^(\/|~(\/|$)|\$HOME(\/|$)|\$WORKSPACE(\/|$)|\$SSH_AUTH_SOCK$)/.test(text)) return "";
  return "Give an absolute path, or one that begins with ~/, $HOME/ or $WORKSPACE/.";
}

/** Grants in the real home that let a cage change what the person's own programs may run. */
export function homeWrites(knobs: Knobs): string[] {
  return knobs.write.filter((path) => /^(~|\$HOME)(\/|$)/.test(path));
}

// ---- What saving ends ----

export interface Ending {
  /** How many terminals run and will be ended. */
  terminals: number;
  /** How many of them are agents, which are started again. */
  agents: number;
  /** Who, and in the middle of what: "Claude working, Codex idle, 1 shell". */
  who: string;
  hasToken: boolean;
}

const doing: Record<string, string> = {
  working: "working",
  needs_input: "waiting for you",
  done: "done",
  idle: "idle",
};

/** What a change of a task's sandbox ends. */
export function endingOf(task: TaskDetail, agentName: (id: string | undefined) => string): Ending {
  const live = task.tabs.filter((tab) => tab.live);
  const agents = live.filter((tab) => tab.kind === "agent");
  const others = live.length - agents.length;
  return {
    terminals: live.length,
    agents: agents.length,
    who: [
      ...agents.map((tab) => [agentName(tab.agent), doing[tab.state ?? ""]].filter(Boolean).join(" ")),
      ...(others > 0 ? [count(others, "shell")] : []),
    ].join(", "),
    hasToken: live.some((tab) => Boolean(tab.mcp)),
  };
}

/** The button that saves: it names what it ends. */
export function saveLabel(ending: Ending | undefined, stale: boolean): string {
  const verb = stale ? "Apply" : "Save";
  return ending && ending.terminals > 0 ? `${verb} and end ${count(ending.terminals, "terminal")}` : verb;
}

// ---- What a repository proposes ----

/** How much of a .termic.yaml has no effect before its owner agrees: "2 hosts and a setup script". */
export function proposals(repo: Repo): string {
  const files = (repo.read?.length ?? 0) + (repo.write?.length ?? 0);
  const parts = [
    files > 0 ? count(files, "path") : "",
    repo.hosts?.length ? count(repo.hosts.length, "host") : "",
    ...(repo.scripts ?? []).map((script) => `the ${script.name} script`),
  ].filter(Boolean);
  return parts.length < 2 ? (parts[0] ?? "nothing") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** What it only tightens, which holds at once: in sentences. */
export function tightenings(repo: Repo): string[] {
  return [
    repo.mode ? `Tasks are caged at least as “${cageName[modeOf(repo.mode)]}”.` : "",
    repo.no_mcp ? "Caged agents may not drive tasks." : "",
    repo.projects ? `They may act on at most these projects: ${repo.projects.join(", ") || "none"}.` : "",
    repo.agents ? `They may start at most these agents: ${repo.agents.join(", ") || "none"}.` : "",
  ].filter(Boolean);
}

/** The cage of a project's new tasks, and who says so. */
export function defaultMode(project: Project | undefined, settings: string): { mode: Mode; from: string } {
  const wish = project?.sandbox ? modeOf(project.sandbox) : modeOf(settings);
  const from = project?.sandbox ? "project default" : "default of the settings";
  const mode = strictest(wish, project?.repo?.mode);
  return mode === wish ? { mode, from } : { mode, from: "as .termic.yaml asks" };
}
