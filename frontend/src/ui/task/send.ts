import type { Fault, TabStatus, TaskDetail } from "../../gen/api";
import { call, faultOf } from "../transport";

/** How sending a prompt went: what is said of it, or what was wrong. */
export type Sent = { said: string } | { fault: Fault };

/** The tab that a prompt goes to when no other is meant: the agent's own. */
export function mainTab(task: TaskDetail): TabStatus | undefined {
  return task.tabs.find((one) => one.is_default);
}

/** Sends a prompt to a tab, whose agent is started again if it has ended. It never throws. */
export async function sendPrompt(
  task: TaskDetail,
  target: TabStatus | undefined,
  prompt: string,
  times = 1,
): Promise<Sent> {
  try {
    if (target && !target.live) await call("task_tab", { task: task.id, restart: target.id });
    const sent = await call("task_send", {
      task: task.id,
      prompt,
      ...(target ? { tab: target.id } : {}),
      ...(times > 1 ? { repeat: times } : {}),
    });
    if (sent.wait?.outcome === "not_delivered") {
      const hint = sent.wait.detail ?? "Look at the terminal: the agent may be asking something.";
      return { fault: { code: "unavailable", message: "The prompt did not arrive", hint } };
    }
    return { said: sent.mode === "queued" ? "Queued. It follows when the agent is ready." : "Delivered." };
  } catch (cause) {
    return { fault: faultOf(cause) };
  }
}
