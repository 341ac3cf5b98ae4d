import type { Fault } from "../../gen/api";
import { faultOf } from "../transport";

/** The act of a dialog: runs once at a time, and keeps its failure for the dialog to show. */
export class Act {
  busy = $state(false);
  fault = $state.raw<Fault | undefined>();

  /** Takes a failure off the screen: what it was about is asked for otherwise now. */
  forget(): void {
    this.fault = undefined;
  }

  /** Runs the act; true when it succeeded. A second call while it runs does nothing. */
  async run(act: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.fault = undefined;
    try {
      await act();
      return true;
    } catch (cause) {
      this.fault = faultOf(cause);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
