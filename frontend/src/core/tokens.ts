import type { Token } from "../gen/api";

/** The scopes of a named token, from the least on, with what each may do. */
export const scopes = [
  ["readonly", "Read only", "reads tasks, their output and changes, and jobs"],
  ["operator", "Operator", "makes tasks and prompts agents; what destroys waits for approval"],
  ["approve", "Approver", "reads, and decides what waits; never asks for it"],
] as const;

export type Scope = (typeof scopes)[number][0];

/** Where a token reaches, in words. */
export function tokenReach(token: Pick<Token, "all_projects" | "projects">): string {
  if (token.all_projects) return "every project";
  return token.projects.length > 0 ? token.projects.join(", ") : "no project: the last one was removed";
}

/** The parameters of token_set that make one token what it is to be: only what differs. */
export function tokenChange(
  from: Pick<Token, "scope" | "all_projects" | "projects">,
  to: Pick<Token, "all_projects" | "projects"> & { scope: Scope },
): { scope?: Scope; projects?: string[]; allProjects?: boolean } {
  const same = [...from.projects].sort().join("\n") === [...to.projects].sort().join("\n");
  return {
    ...(from.scope === to.scope ? {} : { scope: to.scope }),
    ...(to.all_projects && !from.all_projects ? { allProjects: true } : {}),
    ...(!to.all_projects && (from.all_projects || !same) ? { projects: to.projects } : {}),
  };
}
