import { nameFrom } from "../../core/text";
import type { FoundRepository, Project, ProjectFindResult } from "../../gen/api";
import { Act } from "../dialogs/act.svelte";
import type { AppState } from "../state.svelte";
import { call, faultOf } from "../transport";

/** What the first task is asked where the person writes nothing else: it changes nothing, and shows what an agent is good for. */
export const firstPrompt = "Read this repository and tell me what a new contributor should know first.";

/** The way from an empty window to the first task: what was found, what was chosen of it, and the start. */
export class FirstRun {
  readonly #app: AppState;
  readonly act = new Act();
  /** What lies on this computer; absent until it was looked for. */
  found = $state.raw<ProjectFindResult | undefined>();
  looking = $state(false);
  picked = $state<Record<string, boolean>>({});
  prompt = $state(firstPrompt);
  #agent = $state("");
  #place = $state("");
  /** One key for one attempt: a second press joins the first. */
  #key = crypto.randomUUID();

  constructor(app: AppState) {
    this.#app = app;
  }

  readonly projects: Project[] = $derived.by(() => (this.#app.window?.projects ?? []).filter((one) => !one.missing));
  /** Those that are no project yet. */
  readonly repositories: FoundRepository[] = $derived.by(() => {
    const known = new Set(this.projects.map((one) => one.root_path));
    return (this.found?.repositories ?? []).filter((one) => !one.project && !known.has(one.path));
  });
  readonly chosen: FoundRepository[] = $derived(this.repositories.filter((one) => this.picked[one.path]));
  /** Where a task can be: folders of projects, and what becomes one. */
  readonly places: string[] = $derived([
    ...this.projects.map((one) => one.root_path),
    ...this.chosen.map((one) => one.path),
  ]);
  readonly agents = $derived.by(() => (this.#app.window?.agents ?? []).filter((one) => one.enabled));
  readonly ready = $derived(this.agents.filter((one) => one.usable));

  get place(): string {
    return this.places.includes(this.#place) ? this.#place : (this.places[0] ?? "");
  }
  set place(path: string) {
    this.#place = path;
  }

  get agent(): string {
    const wish = [this.#agent, this.#app.settings.defaultAgent].find((id) => this.ready.some((one) => one.id === id));
    return wish ?? this.ready[0]?.id ?? "";
  }
  set agent(id: string) {
    this.#agent = id;
  }

  /** What is missing before a task can start, or "". */
  get missing(): string {
    if (!this.place) return "Choose a repository first.";
    if (!this.agent)
      return "No agent was found on this computer. Install Claude Code, Codex or another one, then look again.";
    return this.prompt.trim() ? "" : "Say what the agent should do.";
  }

  /** Looks for agents and repositories. What was used last is chosen, where there is no project yet. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      await this.#app.refresh();
      this.found = await call("project_find", {});
      const [newest] = this.repositories;
      if (newest && this.projects.length === 0 && this.chosen.length === 0) this.picked[newest.path] = true;
    } catch (cause) {
      this.#app.fail(cause);
    } finally {
      this.looking = false;
    }
  }

  /** Makes projects of what was chosen, and keeps in mind which of them the task is to be in. */
  async #add(): Promise<void> {
    const { place } = this;
    for (const { path } of this.chosen) {
      const { project } = await call("project_add", { path });
      if (path === place) this.#place = project.root_path;
    }
    await this.#app.refresh();
  }

  add(): Promise<boolean> {
    return this.act.run(() => this.#add());
  }

  async start(): Promise<void> {
    if (this.missing) return;
    const done = await this.act.run(async () => {
      await this.#add();
      const project = this.projects.find((one) => one.root_path === this.place);
      const { prompt, agent } = this;
      const { task } = await call("task_new", {
        name: nameFrom(prompt) || "First task",
        prompt,
        agent,
        idempotency_key: this.#key,
        ...(project ? { project: project.id } : {}),
      });
      await this.#app.refresh();
      this.#app.select(task.id);
      this.#app.focusWanted = task.id;
    });
    if (!done && this.act.fault?.code !== faultOf(undefined).code) this.#key = crypto.randomUUID();
  }

  /** The dialog of a new task, with what was chosen here. */
  async more(): Promise<void> {
    if (!(await this.add())) return;
    const project = this.projects.find((one) => one.root_path === this.place);
    this.#app.dialog = { kind: "newTask", prompt: this.prompt, ...(project ? { project: project.id } : {}) };
  }
}
