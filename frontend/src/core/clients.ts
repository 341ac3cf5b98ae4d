import type { ClientPlanResult, ClientState, MCPResult, StaleClient } from "../gen/api";
import { type Hunk, parsePatch } from "./patch";
import { count, sentence } from "./text";

// How registrations with clients stand, in words, marks and the acts that are offered.

export type Tone = "green" | "amber" | "red" | "";

/** What the button of a client that can be registered does. */
export type Registering = "register" | "repair" | "replace";

export interface Standing {
  /** The word of the tag, and its mark; "idle" is the absence of a registration. */
  word: string;
  tone: Tone;
  mark: "done" | "warning" | "failed" | "idle";
  /** What the tag means here, in sentences. */
  lines: string[];
  /** Whether registering is offered, and as what. */
  registering?: Registering;
  /** There is an entry that can be taken away. */
  removable: boolean;
}

/** What is true of the endpoint, as far as registrations care. */
export interface EndpointFacts {
  /** It has an address, which it keeps while it is off. */
  known: boolean;
  serving: boolean;
}

export function endpointFacts(status: MCPResult | undefined): EndpointFacts {
  return { known: (status?.port ?? 0) > 0, serving: status?.enabled === true && !status.error };
}

/** How the registration with one client stands. */
export function standing(client: ClientState, endpoint: EndpointFacts): Standing {
  if (client.problem)
    return say("File cannot be used", "red", "failed", [client.problem, client.fix], { removable: false });
  if (client.registered) return registered(client, endpoint);
  const none = { removable: false };
  if (!client.installed) {
    const absent = `${client.name} was not found on this computer`;
    return say("Not installed", "", "idle", [client.offered ? absent : client.why], none);
  }
  if (!client.usable || !client.offered) return say("Cannot connect yet", "", "idle", [client.why], none);
  const bans = forbidding(client);
  if (bans.length > 0) return say("Forbidden here", "amber", "warning", bans, none);
  return say("Not registered", "", "idle", [endpoint.serving ? "" : offNow(endpoint)], {
    ...none,
    registering: "register",
  });
}

/** What a policy says against any entry of ours, for people. Registering is refused until it is gone. */
function forbidding(client: ClientState): string[] {
  const policies = ["managed", "denied", "allowed"];
  return (client.shadows ?? []).flatMap((shadow) => (policies.includes(shadow.scope) ? [shadow.words] : []));
}

function registered(client: ClientState, endpoint: EndpointFacts): Standing {
  const bans = forbidding(client);
  const can = client.usable && client.offered && client.installed && bans.length === 0;
  const removable = true;
  const offering = (registering: Registering) => (can ? { removable, registering } : { removable });
  const why = client.usable ? (client.installed ? "" : `${client.name} was not found on this computer`) : client.why;
  if (client.foreign)
    return say(
      "Another entry",
      "amber",
      "warning",
      ["An entry named termic is there that Termic did not write", why],
      offering("replace"),
    );
  if (!endpoint.known)
    return say(
      "Needs repair",
      "amber",
      "warning",
      ["It is registered, but the endpoint here was never on and has no address yet", why],
      offering("repair"),
    );
  if (bans.length > 0) return say("Forbidden here", "amber", "warning", bans, { removable });
  if (client.stale?.length) return say("Needs repair", "amber", "warning", [...client.stale, why], offering("repair"));
  if (!client.usable) return say("Cannot connect", "amber", "warning", [client.why], { removable });
  if (client.shadows?.length)
    return say(
      client.shadows.every((shadow) => shadow.scope === "disabled") ? "Off in some folders" : "Another entry wins",
      "amber",
      "warning",
      client.shadows.map((shadow) => shadow.words),
      { removable },
    );
  return say(
    "Registered",
    "green",
    "done",
    [kept(client), client.installed ? "" : why, endpoint.serving ? "" : offNow(endpoint)],
    { removable },
  );
}

function say(
  word: string,
  tone: Tone,
  mark: Standing["mark"],
  lines: (string | undefined)[],
  acts: Pick<Standing, "registering" | "removable">,
): Standing {
  return { word, tone, mark, lines: lines.flatMap((line) => (line ? [sentence(line)] : [])), ...acts };
}

function offNow(endpoint: EndpointFacts): string {
  return endpoint.known
    ? "The endpoint is not serving now"
    : "The endpoint has never been on, so it has no address yet";
}

function kept(client: ClientState): string {
  const edits = client.edits ?? [];
  return edits.length === 0 ? "" : `Changed by hand and kept: ${edits.join(", ")}`;
}

/** The label of the button that registers. Where the endpoint is off, the same act switches it on, and says so. */
export function registerLabel(client: ClientState, act: Registering, endpoint: EndpointFacts): string {
  if (endpoint.serving)
    return { register: `Register with ${client.name}`, repair: "Repair", replace: "Replace the entry" }[act];
  return { register: "Switch on and register", repair: "Switch on and repair", replace: "Switch on and replace" }[act];
}

export const registeringWords: Record<Registering, string> = {
  register: "Registering",
  repair: "Repairing",
  replace: "Replacing",
};

/** The button that takes an entry away: Termic's is unregistered, anybody else's is removed. */
export function removeLabel(client: ClientState): string {
  return client.foreign ? "Remove the entry" : "Unregister";
}

/** A client that is worth a card of its own; the others are folded into one line. */
export function prominent(client: ClientState): boolean {
  return client.offered || client.installed || client.registered || Boolean(client.problem);
}

/** "1 of 3": how many of the clients that can be registered are. Empty before anything was looked at. */
export function registeredCount(clients: ClientState[]): string {
  const can = clients.filter((client) => client.registered || (client.installed && client.offered));
  return can.length === 0 ? "" : `${can.filter((client) => client.ok).length} of ${can.length}`;
}

// ---- What will be written ----

export interface PlanView {
  title: string;
  /** Where the client writes its file itself: its commands, ready for a shell. */
  commands: string[];
  hunks: Hunk[];
  /** "7 lines added, 1 removed". */
  changes: string;
  /** What is true of all the rest of the file. */
  rest: string;
  notes: string[];
}

/** A plan, for people. */
export function planView(plan: ClientPlanResult): PlanView {
  const hunks = parsePatch(`diff --git a/x b/x\n${plan.diff ?? ""}`)[0]?.hunks ?? [];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const many = (kind: "added" | "removed") => lines.filter((line) => line.kind === kind).length;
  const runs = plan.runs ?? [];
  const removal = plan.act === "remove";
  const others = lines.some((line) => line.kind === "same");
  return {
    title: removal ? "What will be taken out" : "What will be written",
    commands: runs.map((argv) => argv.map(shellWord).join(" ")),
    hunks,
    changes: changes(many("added"), many("removed")),
    rest: runs.length === 0 && others ? "every other byte kept, a copy beside it" : "",
    notes: (plan.notes ?? []).map(sentence),
  };
}

function changes(added: number, removed: number): string {
  if (added > 0 && removed > 0) return `${count(added, "line")} added, ${removed} removed`;
  if (added > 0) return `${count(added, "line")} added`;
  return removed > 0 ? `${count(removed, "line")} removed` : "";
}

/** A word of a command as a POSIX shell takes it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// ---- Registrations that no longer fit ----

/** One notice for all of them: the same words mean the same trouble. Empty if there is none. */
export function staleNotice(stale: StaleClient[]): string {
  const [first] = stale;
  if (!first) return "";
  const reasons = [...new Set(stale.flatMap((client) => client.stale))].map(sentence).join(" ");
  const names = stale.map((client) => client.name);
  if (names.length === 1) return `The registration with ${first.name} no longer fits. ${reasons}`;
  return `The registrations with ${names.slice(0, -1).join(", ")} and ${names.at(-1)} no longer fit. ${reasons}`;
}
