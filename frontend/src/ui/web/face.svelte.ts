import { LineReader } from "../../core/lines";
import type { Fault, Params, Result, VerbName } from "../../gen/api";
import { CallError, faultOf } from "../transport";

// The page's way to the browser face: a login, verbs, and a stream that says when to look again.

/** Whose login it is, and what that may do. */
export interface Login {
  name: string;
  scope: string;
  all_projects: boolean;
  verbs: string[];
  version: string;
  expires?: string;
  key?: string;
}

/** An approval as far as the page shows it. */
export interface Approval {
  id: string;
  state: string;
  verb: string;
  principal: string;
  face: string;
  task?: string;
  project: string;
  summary: string;
  created: string;
  expires: string;
}

/** The key stands where no page of another origin can read it; the cookie that belongs to it is sent by the browser. */
const keyPlace = "termic.key";

/** Waits between two tries to reach the app again, in milliseconds. */
const retries = [300, 1000, 3000];

export class Face {
  /** undefined: not known yet; null: nobody is logged in. */
  login = $state.raw<Login | null | undefined>();
  /** Counts what changed in the app. */
  rev = $state(0);
  lost = $state(false);
  /** Why there is a login page again. */
  why = $state("");
  #stop = new AbortController();

  can(verb: string): boolean {
    return this.login?.verbs.includes(verb) ?? false;
  }

  async start(): Promise<void> {
    if (!localStorage.getItem(keyPlace)) {
      this.login = null;
      return;
    }
    try {
      const response = await this.#send("GET", "session");
      if (response.ok) this.#enter((await response.json()) as Login);
      else this.#leave("");
    } catch {
      this.lost = true;
      setTimeout(() => void this.start(), 1000);
      return;
    }
    this.lost = false;
  }

  /** Logs in; false for a token that is not known. */
  async enter(token: string): Promise<boolean> {
    const response = await fetch("api/v1/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (!response.ok) return false;
    const login = (await response.json()) as Login;
    localStorage.setItem(keyPlace, login.key ?? "");
    this.why = "";
    this.#enter(login);
    return true;
  }

  async leave(): Promise<void> {
    await this.#send("DELETE", "session").catch(() => undefined); // the key is forgotten either way
    this.#leave("");
  }

  /** Runs a verb. Throws a CallError when it fails; a login that is over leads to the login page. */
  async call<V extends VerbName>(verb: V, params: Params<V>): Promise<Result<V>> {
    return this.ask<Result<V>>(verb, params);
  }

  async ask<T>(verb: string, params: unknown): Promise<T> {
    const response = await this.#send("POST", verb, JSON.stringify(params));
    if (response.status === 401) {
      this.#leave("The login has ended: it ran out, or its token was changed or revoked.");
      throw new CallError({ code: "forbidden", message: "The login has ended" });
    }
    const answer = (await response.json().catch(() => ({}))) as T & { error?: Fault };
    if (!response.ok) throw new CallError(answer.error ?? faultOf(undefined));
    return answer;
  }

  #send(method: string, path: string, body?: string): Promise<Response> {
    const init: RequestInit = { method };
    const headers: Record<string, string> = { "X-Termic-Key": localStorage.getItem(keyPlace) ?? "" };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = body;
    }
    return fetch(`api/v1/${path}`, { ...init, headers });
  }

  #enter(login: Login): void {
    this.login = login;
    this.#stop.abort();
    this.#stop = new AbortController();
    void this.#watch(this.#stop.signal);
  }

  #leave(why: string): void {
    this.#stop.abort();
    localStorage.removeItem(keyPlace);
    this.login = null;
    this.why = why;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const response = await fetch("api/v1/changes", {
          headers: { "X-Termic-Key": localStorage.getItem(keyPlace) ?? "" },
          signal,
        });
        if (response.status === 401)
          return this.#leave("The login has ended: it ran out, or its token was changed or revoked.");
        const reader = response.ok ? response.body?.getReader() : undefined;
        const decoder = new TextDecoder();
        const lines = new LineReader();
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
          failures = 0;
          this.lost = false;
          for (const line of lines.push(decoder.decode(part.value, { stream: true })))
            if (line === "event: change") this.rev++;
        }
      } catch {
        // The stream broke: that it ended is all there is to know.
      }
      if (signal.aborted) return;
      if (failures > 0) this.lost = true;
      await new Promise((done) => setTimeout(done, retries[Math.min(failures, retries.length - 1)]));
    }
  }
}
