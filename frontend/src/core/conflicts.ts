import type { Fault } from "../gen/api";

/** The files with conflict marks that an apply_conflict failure lists. What cannot be read is left out. */
export function conflictsOf(fault: Fault | undefined): string[] {
  const listed: unknown = fault?.code === "apply_conflict" ? fault.data?.conflicts : undefined;
  return Array.isArray(listed) ? listed.filter((one): one is string => typeof one === "string") : [];
}
