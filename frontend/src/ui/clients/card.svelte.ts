import { type EndpointFacts, standing } from "../../core/clients";
import { clock } from "../../core/when";
import type { ClientPlanResult, ClientReport, ClientState, ClientWriteResult, Fault } from "../../gen/api";
import { Act } from "../dialogs/act.svelte";
import type { AppState } from "../state.svelte";
import { CallError, call, faultOf } from "../transport";

/** What is going on in the card of one client. Nothing is written but what a plan has shown. */
export class Card {
  /** What registering would do; read whenever the client or the endpoint has changed. */
  plan = $state.raw<ClientPlanResult | undefined>();
  /** What unregistering would do, while the person is asked. */
  removal = $state.raw<ClientPlanResult | undefined>();
  report = $state.raw<{ report: ClientReport; at: string } | undefined>();
  /** What was done, for a person to read. */
  done = $state("");
  /** How the registration stood when it was done or tried. */
  word = $state("");
  agreed = $state(false);
  copying = $state(false);
  readonly act = new Act();
  /** Why the plan could not be read. */
  lookFault = $state.raw<Fault | undefined>();
  /** What runs now, as a verb in -ing. */
  doing = $state("");
  readonly #app: AppState;
  /** Grows with every question for a plan: an answer to an older one is dropped. */
  #asked = 0;

  constructor(app: AppState) {
    this.#app = app;
  }

  /** Reads what registering would do, where that is offered and the endpoint has an address. */
  async look(client: ClientState, endpoint: EndpointFacts): Promise<void> {
    const asked = ++this.#asked;
    this.lookFault = undefined;
    if (!endpoint.known || !standing(client, endpoint).registering) {
      this.plan = undefined;
      return;
    }
    try {
      const plan = await call("client_plan", { client: client.id });
      if (asked === this.#asked) this.plan = plan;
    } catch (cause) {
      if (asked !== this.#asked) return;
      this.plan = undefined;
      this.lookFault = faultOf(cause);
    }
  }

  /** Registers as was shown. An endpoint that is off is switched on first; one without an address could show nothing. */
  async register(client: ClientState, endpoint: EndpointFacts, words: string): Promise<void> {
    await this.#run(words, async () => {
      const seen = this.plan;
      if (!endpoint.serving) await switchOn();
      const plan = seen ?? (await call("client_plan", { client: client.id }));
      if (plan.losses?.length && !this.agreed) {
        this.plan = plan; // it could not be shown before: now it is, and the person is asked
        return;
      }
      try {
        this.#took(
          await call("client_register", { client: client.id, digest: plan.digest, yes: this.agreed }),
          "Registered",
        );
      } catch (cause) {
        await this.look(client, { ...endpoint, known: true });
        throw cause;
      }
    });
  }

  /** Asks whether the registration may be taken away, with what that changes. */
  async askRemove(client: ClientState): Promise<void> {
    this.report = undefined;
    await this.#run("Looking", async () => {
      this.removal = await call("client_plan", { client: client.id, remove: true });
    });
  }

  async remove(client: ClientState): Promise<void> {
    const plan = this.removal;
    if (!plan) return;
    await this.#run(client.foreign ? "Removing" : "Unregistering", async () => {
      try {
        const result = await call("client_unregister", { client: client.id, digest: plan.digest, yes: this.agreed });
        this.#took(result, client.foreign ? "Removed" : "Unregistered");
        this.removal = undefined;
      } catch (cause) {
        this.agreed = false;
        this.removal = await call("client_plan", { client: client.id, remove: true });
        throw cause;
      }
    });
  }

  async verify(client: ClientState, word: string): Promise<void> {
    this.done = "";
    this.word = word;
    await this.#run("Verifying", async () => {
      this.#reported(await call("client_verify", { client: client.id }));
    });
  }

  keep(): void {
    this.removal = undefined;
    this.agreed = false;
  }

  #took(result: ClientWriteResult, verb: string): void {
    this.report = undefined;
    this.word = standing(result.client, { known: true, serving: true }).word;
    if (result.verify) this.#reported(result.verify);
    this.done = [
      result.verify ? "" : `${verb} ${clock(new Date(), new Date())}, in ${result.file}.`,
      result.verify || !result.client.registered ? "" : "The endpoint is not serving, so it was not tried.",
      result.backup ? `A copy of the file as it was is beside it: ${result.backup}` : "",
    ]
      .filter(Boolean)
      .join(" ");
    this.#app.spoken = `${verb}: ${result.client.name}. ${result.verify?.summary ?? ""}`;
    this.plan = undefined;
    this.agreed = this.copying = false;
    this.#app.tookClient(result.client);
  }

  #reported(report: ClientReport): void {
    this.report = { report, at: clock(new Date(), new Date()) };
    this.#app.spoken = report.summary;
  }

  async #run(words: string, what: () => Promise<void>): Promise<void> {
    this.doing = words;
    await this.act.run(what);
    this.doing = "";
    await this.#app.refresh();
  }
}

async function switchOn(): Promise<void> {
  const status = await call("mcp_enable", {});
  if (status.error)
    throw new CallError({ code: "unavailable", message: status.error, ...(status.hint ? { hint: status.hint } : {}) });
}
