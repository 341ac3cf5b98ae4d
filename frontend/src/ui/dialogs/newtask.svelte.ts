import { defaultMode, hasWalls, type Knobs, knobsOf, type Mode, modeOf, strictest } from "../../core/cage";
import type { LinkOffer, Project, ProjectGitResult, TaskDetail, TaskNewParams } from "../../gen/api";
import type { AppState } from "../state.svelte";
import { call } from "../transport";
import type { Place } from "./draft.svelte";

/** What the person says of a task that is not made yet. It begins with the defaults of its project, or as another task is. */
export class NewTaskDraft {
  name = $state("");
  branch = $state("");
  base = $state("");
  from = $state("");
  prompt = $state("");
  agent = $state("");
  place = $state<Place>("worktree");
  mode = $state<Mode>("off");
  knobs = $state<Knobs>(knobsOf(undefined));
  yolo = $state(false);
  /** Names of the secrets that its agents get. */
  secrets = $state<string[]>([]);
  /** What the project's repository has to start from; absent until it was read, and where there is none. */
  git = $state.raw<ProjectGitResult | undefined>();
  readonly #app: AppState;
  /** One key for one dialog: a second press, or a retry after a broken connection, joins the first call. */
  readonly #key = crypto.randomUUID();

  constructor(
    app: AppState,
    project: Project | undefined,
    like: TaskDetail | undefined,
    prompt = "",
    link?: LinkOffer,
  ) {
    this.#app = app;
    this.prompt = prompt;
    this.place = app.settings.defaultMode === "main" ? "main" : "worktree";
    this.take(project);
    if (like) this.#copy(like);
    if (link) this.#fill(link);
  }

  /** Begins with what another project's tasks begin with. What was written stays. */
  take(project: Project | undefined): void {
    this.mode = defaultMode(project, this.#app.settings.sandboxMode).mode;
    this.knobs = knobsOf(project?.cage);
    this.agent = firstAgent(this.#app, project);
    this.secrets = [...(project?.secrets ?? [])];
    void this.#look(project);
  }

  /** What a link says of it. Where it works and what it may do is not a link's to say. */
  #fill({ name = "", prompt = "", branch = "", base = "", agent }: LinkOffer): void {
    this.name = name;
    this.prompt = prompt;
    this.branch = branch;
    this.base = base;
    if (agent) this.agent = agent;
  }

  /** A task that is like another one: same project, base, agent and cage, and its own name, branch and worktree. */
  #copy(task: TaskDetail): void {
    const names = new Set(this.#app.rows.map((row) => row.name.toLowerCase()));
    let n = 2;
    while (names.has(`${task.name} ${n}`.toLowerCase())) n++;
    this.name = `${task.name} ${n}`;
    this.place = task.is_main_checkout ? "main" : "worktree";
    this.base = task.base_branch ?? "";
    if (this.#app.window?.agents.some((one) => one.id === task.agent && one.usable)) this.agent = task.agent;
    this.mode = modeOf(task.sandbox ?? "off");
    this.knobs = knobsOf(task.cage);
    this.yolo = task.yolo ?? false;
    this.secrets = [...(task.secrets ?? [])];
  }

  async #look(project: Project | undefined): Promise<void> {
    this.git = undefined;
    if (!project || project.non_git || project.missing) return;
    try {
      const git = await call("project_git", { name: project.id });
      if (git.name === project.name) this.git = git;
    } catch {
      this.git = undefined; // a list to choose from is a comfort; what is typed is checked when the task is made
    }
  }

  /** Never more open than the repository asks. */
  tighten(mode: string | undefined): void {
    if (mode) this.mode = strictest(this.mode, modeOf(mode));
  }

  params(project: Project, where: Place): TaskNewParams {
    const params: TaskNewParams = {
      project: project.id,
      sandbox: this.mode,
      idempotency_key: this.#key,
      ...(this.name.trim() ? { name: this.name.trim() } : {}),
      ...(this.agent ? { agent: this.agent } : { noAgent: true }),
      ...(this.agent && this.prompt.trim() ? { prompt: this.prompt } : {}),
      ...(this.agent && this.yolo && !hasWalls(this.mode) ? { yolo: true } : {}),
      ...(this.mode === "off" ? {} : this.#driving(project)),
    };
    if (this.secrets.length > 0 || project.secrets?.length) params.secrets = this.secrets; // what was shown is what is made
    if (where === "adopt") params.from = this.from.trim();
    else params.mode = where;
    if (where === "worktree") {
      if (this.branch.trim()) params.branch = this.branch.trim();
      if (this.base.trim()) params.base = this.base.trim();
    }
    return params;
  }

  /** The box and its lists. Given even where they are the project's defaults: what was shown is what is made. */
  #driving({ repo }: Project): Pick<TaskNewParams, "mcp" | "projects" | "agents"> {
    return { mcp: this.knobs.mcp && !repo?.no_mcp, projects: this.knobs.projects, agents: this.knobs.agents };
  }
}

function firstAgent(app: AppState, project: Project | undefined): string {
  const usable = (app.window?.agents ?? []).filter((one) => one.usable);
  const wish = [project?.default_agent, app.settings.defaultAgent].find((id) => usable.some((one) => one.id === id));
  return wish ?? usable[0]?.id ?? "";
}
