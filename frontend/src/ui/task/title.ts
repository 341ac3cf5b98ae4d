import type { TabStatus } from "../../gen/api";
import type { AppState } from "../state.svelte";

/** What a tab is called: the agent and what it says of itself, or the title of the program in the terminal. */
export function tabTitle(app: AppState, tab: TabStatus): string {
  if (tab.kind !== "agent" || tab.named) return tab.title;
  const name = app.agentName(tab.agent);
  // Agents draw their own marks of work before their title; the tab has a mark already.
  const title = tab.title.replace(/^[\u2800-\u28ff✳✶✻✽·*]\s*/u, "").trim();
  return !title || title === name || title.toLowerCase() === tab.agent ? name : `${name}: ${title}`;
}
