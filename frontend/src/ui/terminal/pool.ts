import type { Disposable } from "../../core/disposable";
import { type Look, TerminalView } from "./view";
import { Wire } from "./wire";

/** Terminals that stay alive while they are not shown. Older ones are redrawn by the app when they are opened again. */
const kept = 12;

/** The terminals of the page, least recently used first. */
export class TerminalPool implements Disposable {
  readonly #views = new Map<string, TerminalView>();
  readonly #wire = new Wire();
  #look: Look;

  constructor(look: Look) {
    this.#look = look;
  }

  /** The terminal of a tab; made on first use. */
  open(task: string, tab: string): TerminalView {
    const view = this.#views.get(tab) ?? new TerminalView(this.#wire, task, tab, this.#look);
    this.#views.delete(tab);
    this.#views.set(tab, view);
    for (const [id, old] of this.#views) {
      if (this.#views.size <= kept) break;
      if (old !== view && !old.element.isConnected) this.forget(id);
    }
    return view;
  }

  /** Detaches every tab that is not in the set any more. */
  keepOnly(tabs: Set<string>): void {
    for (const id of [...this.#views.keys()]) if (!tabs.has(id)) this.forget(id);
  }

  forget(tab: string): void {
    this.#views.get(tab)?.dispose();
    this.#views.delete(tab);
  }

  restyle(look: Look): void {
    this.#look = look;
    for (const view of this.#views.values()) view.restyle(look);
  }

  awake(visible: boolean): void {
    for (const view of this.#views.values()) view.awake(visible);
  }

  dispose(): void {
    for (const id of [...this.#views.keys()]) this.forget(id);
    this.#wire.dispose();
  }
}
