import type { FileChange, TaskSummary } from "../gen/api";

/** The tasks of a race, in the order in which they were made. */
export function racersOf<T extends Pick<TaskSummary, "race" | "created" | "id">>(tasks: T[], race: string): T[] {
  if (!race) return [];
  return tasks
    .filter((task) => task.race === race)
    .sort((a, b) => a.created.localeCompare(b.created) || a.id.localeCompare(b.id));
}

/** The name of the race: what the names of its tasks begin with. A task alone has its own. */
export function raceName(names: string[]): string {
  const [first = [], ...rest] = names.map((name) => name.split(" "));
  if (rest.length === 0) return names[0] ?? "";
  let same = 0;
  while (same < first.length && rest.every((words) => words[same] === first[same])) same++;
  return first.slice(0, same).join(" ") || (names[0] ?? "");
}

/** A file that at least one of the racers changed: who did, by the place in the list of racers. */
export interface RacedFile {
  path: string;
  by: (FileChange | undefined)[];
}

/** Every changed file of a race: those that most racers changed first, then by path. */
export function racedFiles(changes: (FileChange[] | undefined)[]): RacedFile[] {
  const files = new Map<string, RacedFile>();
  changes.forEach((list, at) => {
    for (const change of list ?? []) {
      const file = files.get(change.path) ?? { path: change.path, by: changes.map(() => undefined) };
      file.by[at] = change;
      files.set(change.path, file);
    }
  });
  const many = (file: RacedFile) => file.by.filter(Boolean).length;
  return [...files.values()].sort((a, b) => many(b) - many(a) || a.path.localeCompare(b.path));
}
