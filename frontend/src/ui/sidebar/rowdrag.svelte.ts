import type { ProjectNode } from "../../core/tree";
import { type Drag, under } from "../parts/drag";
import type { AppState } from "../state.svelte";
import { placeProject, placeTask } from "./order";

/** The row of the sidebar that is dragged, and the one whose place it would take. */
export class RowDrag {
  readonly #app: AppState;
  over = $state("");

  constructor(app: AppState) {
    this.#app = app;
  }

  /** A task moves among those of its project that stand by themselves. */
  ofTask(of: () => ProjectNode, task: string): Drag {
    const to = (x: number, y: number) => {
      const id = under(x, y, "[data-row]")?.dataset.row ?? "";
      return of().tasks.some((one) => one.task.id === id) && id !== task ? id : "";
    };
    return this.#drag(to, (id) => placeTask(this.#app, task, of().tasks.findIndex((one) => one.task.id === id) + 1));
  }

  /** A project takes the place of another, and stands under the heading of that one. */
  ofProject(of: () => ProjectNode): Drag {
    const to = (x: number, y: number) => {
      const id = under(x, y, "[data-project]")?.dataset.project ?? "";
      return id === of().project.id ? "" : id;
    };
    return this.#drag(to, (id) => {
      const at = this.#app.tree.findIndex((node) => node.project.id === id);
      const group = this.#app.tree[at]?.project.group ?? "";
      return placeProject(this.#app, of().project, at + 1, group);
    });
  }

  #drag(to: (x: number, y: number) => string, place: (id: string) => Promise<void>): Drag {
    return {
      start: () => {},
      over: (x, y) => {
        this.over = to(x, y);
      },
      drop: () => {
        if (this.over) void place(this.over);
      },
      end: () => {
        this.over = "";
      },
    };
  }
}
