import { foreseen } from "../../core/applyplan";
import type { TaskDetail } from "../../gen/api";
import type { AppState } from "../state.svelte";
import { call } from "../transport";

/** Asks what applying a task would do, for the status bar. The returned function takes the answer away again. */
export function foresee(app: AppState, task: TaskDetail): () => void {
  let left = false;
  void call("task_plan", { task: task.id })
    .then((plan) => {
      if (!left) app.foreseen = { ...foreseen(plan), task: task.id };
    })
    .catch(() => {}); // the dialog of Apply says why
  return () => {
    left = true;
    app.foreseen = undefined;
  };
}
