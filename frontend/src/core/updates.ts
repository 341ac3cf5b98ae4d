import type { UpdateResult } from "../gen/api";
import { clock } from "./when";

/** Whether there is something to tell of: a release that is newer than what runs. */
export const isNewer = (u: UpdateResult | undefined): boolean => u?.state === "newer";

/** How it stands with newer releases, in a sentence. Versions come from a feed that was signed, and are none of HTML. */
export function updateWords(u: UpdateResult, now: Date): string {
  switch (u.state) {
    case "newer":
      return `Termic ${u.latest} is out. This is ${u.version}.`;
    case "current":
      return `This is the newest release, as of ${clock(u.found ?? "", now)}.`;
    case "unknown":
      return `Termic ${u.latest} is the newest release. This build, ${u.version}, has no version to compare it with.`;
    case "unasked":
      return "Nothing is known yet.";
    case "unset":
      return "Nothing is asked.";
  }
  return `This is Termic ${u.version}.`;
}

/** What the switch does, for somebody who has not turned it yet. */
export function whatIsAsked(u: UpdateResult): string {
  if (!u.address)
    return "This build names no address to ask, so one must be set below. Nothing but the request is sent.";
  return `Asks ${u.address} and the signature beside it. Nothing is sent but the request: no version, and nothing about you.`;
}
