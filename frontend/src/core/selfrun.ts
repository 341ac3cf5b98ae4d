import type { Fault } from "../gen/api";

/** A file that runs by itself, or steers an agent, and that a caged agent may have written; as in api.SelfRun. */
export interface SelfRunFile {
  path: string;
  kind: string;
  how: string;
}

export interface SelfRunning {
  files: SelfRunFile[];
  /** How many there are; more than are listed, perhaps. */
  total: number;
  /** False when the tree has more files than are looked at. */
  complete: boolean;
}

/** The files that a needs_consent failure asks about; undefined when it asks about something else. */
export function selfRunOf(fault: Fault | undefined): SelfRunning | undefined {
  const list = fault?.code === "needs_consent" ? fault.data?.files : undefined;
  if (!Array.isArray(list)) return undefined;
  const files = list.flatMap((one: unknown) => {
    if (typeof one !== "object" || one === null) return [];
    const { path, kind, how } = one as Record<string, unknown>;
    return typeof path === "string" ? [{ path, kind: String(kind ?? ""), how: String(how ?? "") }] : [];
  });
  const total = fault?.data?.total;
  return {
    files,
    total: typeof total === "number" ? Math.max(total, files.length) : files.length,
    complete: fault?.data?.complete !== false,
  };
}

const kinds: Record<string, string> = {
  agent: "settings of an agent",
  git: "git",
  shell: "run by shells",
  editor: "settings of an editor",
  tool: "run by a tool",
  instructions: "instructions to agents",
  ci: "run by CI",
  termic: "read by Termic",
};

export const kindWords = (file: SelfRunFile) => [kinds[file.kind] ?? file.kind, file.how].filter(Boolean).join(", ");
