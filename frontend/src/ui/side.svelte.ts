import { type Disposable, Disposables, disposable } from "../core/disposable";
import { remember, remembered } from "./remember";

/**
 * A side of the window: the sidebar or the panel. Where there is room it is open or not as the person left it; where
 * there is none it lies over the rest, and only as long as it is used.
 */
export class Side implements Disposable {
  readonly #name: string;
  readonly #owned = new Disposables();
  #roomy = $state(true);
  #wanted = $state(true);
  #over = $state(false);

  constructor(name: string, roomy: string) {
    this.#name = name;
    this.#wanted = remembered<boolean>(name, true);
    const query = matchMedia(roomy);
    const changed = () => {
      this.#roomy = query.matches;
      this.#over = false;
    };
    changed();
    query.addEventListener("change", changed);
    this.#owned.add(disposable(() => query.removeEventListener("change", changed)));
  }

  get open(): boolean {
    return this.#roomy ? this.#wanted : this.#over;
  }

  toggle(): void {
    if (!this.#roomy) {
      this.#over = !this.#over;
      return;
    }
    this.#wanted = !this.#wanted;
    remember(this.#name, this.#wanted);
  }

  /** Closes it if it lies over the rest. */
  leave(): void {
    this.#over = false;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
