import { type Disposable, disposable } from "../core/disposable";
import { LineReader } from "../core/lines";
import type { Fault, Params, Result, VerbName } from "../gen/api";

/** Names this load of the page, so that the app can end what an earlier load left open. */
export const pageName = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) =>
  b.toString(16).padStart(2, "0"),
).join("");

/** A failure of a verb, with words for the person. */
export class CallError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "CallError";
    this.fault = fault;
  }
}

/** Any failure as a Fault: what a page may show. */
export function faultOf(cause: unknown): Fault {
  if (cause instanceof CallError) return cause.fault;
  return {
    code: "unavailable",
    message: "The app does not answer",
    hint: "If this stays, quit Termic and start it again.",
  };
}

interface Answer {
  ok: boolean;
  data?: unknown;
  error?: Fault;
}

/** Runs a verb as the owner. Throws a CallError when it fails. */
export async function call<V extends VerbName>(verb: V, params: Params<V>): Promise<Result<V>> {
  const response = await fetch("termic/call", { method: "POST", body: JSON.stringify({ verb, params }) });
  const answer = (await response.json()) as Answer;
  if (!answer.ok) throw new CallError(answer.error ?? faultOf(undefined));
  return answer.data as Result<V>;
}

/** Waits between two tries to reach the app again, in milliseconds. */
const retries = [100, 300, 1000, 3000];

/**
 * Hears of changes until disposed: `changed` runs with the newest revision, and again after each reconnection; `lost`
 * when the app does not answer any more, `back` when it does again.
 */
export function watch(changed: (rev: number) => void, lost: () => void, back: () => void): Disposable {
  const stop = new AbortController();
  void (async () => {
    for (let failures = 0; !stop.signal.aborted; failures++) {
      try {
        await readLines(`termic/events?page=${pageName}`, stop.signal, (line) => {
          if (failures > 0) back();
          failures = 0;
          changed((JSON.parse(line) as { rev: number }).rev);
        });
      } catch {
        // The stream broke: that it ended is all there is to know.
      }
      if (stop.signal.aborted) return;
      if (failures === 1) lost();
      await pause(retries[Math.min(failures, retries.length - 1)] ?? 3000, stop.signal);
    }
  })();
  return disposable(() => stop.abort());
}

async function readLines(path: string, signal: AbortSignal, take: (line: string) => void): Promise<void> {
  const response = await fetch(path, { signal });
  if (!response.ok || !response.body) throw new Error(`answer ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const lines = new LineReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const line of lines.push(decoder.decode(value, { stream: true }))) take(line);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
