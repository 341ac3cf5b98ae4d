/** Something that must be undone: a listener, a timer, a stream. */
export interface Disposable {
  dispose(): void;
}

/** Makes a Disposable of a function, which then runs at most once. */
export function disposable(undo: () => void): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      undo();
    },
  };
}

/** Holds what its owner must undo, and undoes it in the reverse order. What is added after that is undone at once. */
export class Disposables implements Disposable {
  #items: Disposable[] = [];
  #done = false;

  /** True once disposed. */
  get done(): boolean {
    return this.#done;
  }

  add<T extends Disposable>(item: T): T {
    if (this.#done) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    this.#done = true;
    for (const item of this.#items.splice(0).reverse()) item.dispose();
  }
}
