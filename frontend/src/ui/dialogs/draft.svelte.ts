import { type Access, type CageLine, type Knobs, knobChanges, knobsOf, type Mode, modeOf } from "../../core/cage";
import { allowedIn } from "../../core/denials";
import type { WindowSettings } from "../../core/settings";
import type {
  CageLayer,
  Denial,
  Project,
  ProjectSettingsParams,
  TaskDetail,
  TaskSandboxParams,
  TaskSandboxResult,
} from "../../gen/api";

/** Where a new task works: in a worktree of its own, in one that is there, or in the project's checkout. */
export type Place = "worktree" | "adopt" | "main";

type Lists = Pick<Knobs, "read" | "write" | "hosts">;
const listsOf = ({ read, write, hosts }: Knobs): Lists => ({ read, write, hosts });

/** The system's folders are one thing to whoever reads the list. */
function shortened(layer: CageLayer): CageLayer {
  return layer.kind === "builtin" && layer.read ? { ...layer, read: [layer.read.join(", ")] } : layer;
}

/**
 * What the person changes in the sandbox dialog and has not saved: the task's own mode, knobs and lists, and the lists
 * of its project. It is compared with what was there when the dialog opened.
 */
export class SandboxDraft {
  mode = $state<Mode>("off");
  task = $state<Knobs>(knobsOf(undefined));
  project = $state<Knobs>(knobsOf(undefined));
  /** Names of the secrets that its agents get. */
  secrets = $state<string[]>([]);
  readonly #secrets: string[];
  readonly #mode: Mode;
  readonly #task: Knobs;
  readonly #project: Knobs;
  /** What every cage of a task has. */
  readonly #fixed: CageLayer[];
  /** Layers that this dialog only shows. */
  #shown = $state.raw<CageLayer[]>([]);

  constructor(task: TaskDetail, project: Project | undefined, settings: WindowSettings) {
    this.mode = this.#mode = modeOf(task.sandbox);
    this.secrets = this.#secrets = [...(task.secrets ?? [])].sort();
    this.#task = knobsOf(task.cage);
    this.task = knobsOf(task.cage);
    this.#project = knobsOf(project?.cage);
    this.project = knobsOf(project?.cage);
    const { sandboxRead: read, sandboxWrite: write, sandboxHosts: hosts } = settings;
    this.#fixed = [
      { kind: "worktree", write: [task.path] },
      { kind: "home", write: ["~"] },
    ];
    this.#shown = [...this.#fixed, { kind: "settings", read, write, hosts }];
  }

  /** Takes the layers that the app composes the cage from, once they are known. */
  know(result: TaskSandboxResult): void {
    if (!result.layers) return;
    const others = result.layers.filter((layer) => layer.kind !== "task" && layer.kind !== "project");
    this.#shown = [...this.#fixed, ...others.map(shortened)];
  }

  readonly layers: CageLayer[] = $derived([
    ...this.#shown,
    { kind: "project", ...listsOf(this.project) },
    { kind: "task", ...listsOf(this.task) },
  ]);

  get saved(): CageLayer[] {
    return [...this.#shown, { kind: "project", ...listsOf(this.#project) }, { kind: "task", ...listsOf(this.#task) }];
  }

  add(access: Access, text: string, to: "task" | "project" = "task"): void {
    const knobs = to === "task" ? this.task : this.project;
    if (!knobs[access].includes(text)) knobs[access] = [...knobs[access], text];
  }

  remove(line: CageLine): void {
    const knobs = line.from === "project" ? this.project : this.task;
    knobs[line.access] = knobs[line.access].filter((one) => one !== line.text);
  }

  has(access: Access, text: string): "task" | "project" | undefined {
    if (this.task[access].includes(text)) return "task";
    return this.project[access].includes(text) ? "project" : undefined;
  }

  /** Whether the line that allows a denial was written here and is not saved yet. */
  unsaved(denial: Denial, to: "task" | "project"): boolean {
    return !allowedIn(denial, to === "task" ? this.#task : this.#project);
  }

  readonly taskChanges: Omit<TaskSandboxParams, "task"> = $derived.by(() => {
    const out: Omit<TaskSandboxParams, "task"> = knobChanges(this.#task, this.task);
    if (this.mode !== this.#mode) out.mode = this.mode;
    if (this.secrets.join() !== this.#secrets.join()) out.secrets = this.secrets;
    return out;
  });

  readonly projectChanges: Omit<ProjectSettingsParams, "name"> = $derived.by(() =>
    knobChanges(this.#project, { ...this.#project, ...listsOf(this.project) }),
  );

  readonly changed: boolean = $derived(
    Object.keys(this.taskChanges).length + Object.keys(this.projectChanges).length > 0,
  );
}
