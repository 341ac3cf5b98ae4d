import type { Fault, TaskDiffResult } from "../../gen/api";
import { call, faultOf } from "../transport";

/** The changes of one task, read again whenever asked. While one reading is under way, further asks join in one more. */
export class ChangesOf {
  diff = $state.raw<TaskDiffResult | undefined>();
  fault = $state.raw<Fault | undefined>();
  busy = $state(false);
  readonly #task: string;
  readonly #full: boolean;
  #again = false;

  constructor(task: string, full: boolean) {
    this.#task = task;
    this.#full = full;
  }

  async read(): Promise<void> {
    if (this.busy) {
      this.#again = true;
      return;
    }
    this.busy = true;
    do {
      this.#again = false;
      try {
        this.diff = await call("task_diff", { task: this.#task, full: this.#full });
        this.fault = undefined;
      } catch (cause) {
        this.fault = faultOf(cause);
      }
    } while (this.#again);
    this.busy = false;
  }
}
