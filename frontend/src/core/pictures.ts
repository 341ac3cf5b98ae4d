/**
 * Least time between two pictures of a terminal that a flood runs through, in milliseconds. Nobody reads what goes by so
 * fast, and each picture takes the time in which a third of a megabyte could have been drawn.
 */
export const floodGap = 66;

/** How much more than `calmRate` a terminal is given until that counts as a flood, in bytes: more than any screen is. */
const floodBytes = 128 << 10;

/** What a terminal may be given all the time without it being a flood, in bytes per millisecond. */
const calmRate = 250;

/** How long after somebody did something every picture is shown again, in milliseconds. */
const presence = 250;

/** Draws rows, both ends included, in the next picture. */
export type Draw = (start: number, end: number) => void;

/**
 * Says when a terminal draws. Each change is drawn in the next picture, unless a flood runs through the terminal and nobody
 * types, scrolls or points into it: then changes are gathered, and drawn together some time later.
 */
export class Pictures {
  readonly #draw: Draw;
  readonly #now: () => number;
  #first = Infinity; // of the rows that wait
  #last = -1;
  #timer: ReturnType<typeof setTimeout> | undefined; // runs while rows wait
  #drawn = -Infinity; // when it drew last
  #touched = -Infinity; // when somebody did something last
  #waiting: (() => void) | undefined; // what is to run later
  #waits: ReturnType<typeof setTimeout> | undefined;
  #level = 0; // bytes above the calm rate
  #levelAt = 0;

  constructor(draw: Draw, now: () => number = () => performance.now()) {
    this.#draw = draw;
    this.#now = now;
  }

  /** Takes note of so many bytes that are being drawn. */
  printed(bytes: number): void {
    this.#sink(this.#now());
    // What is above twice the bound would only make the end of a flood last longer.
    this.#level = Math.min(this.#level + bytes, 2 * floodBytes);
  }

  /** Somebody types, scrolls or points: they see every picture, beginning with what waits. */
  touched(): void {
    this.#touched = this.#now();
    this.#flush();
    this.#run();
  }

  /** Draws what has changed at once: what stood there was cleared away. */
  show(): void {
    this.#flush();
  }

  /** Asks for the next picture of a flood that comes in pictures: at once while somebody is there, otherwise some time later. */
  next(ask: () => void): void {
    this.#waiting = ask;
    clearTimeout(this.#waits);
    if (this.#now() - this.#touched <= presence) this.#run();
    else this.#waits = setTimeout(() => this.#run(), floodGap);
  }

  #run(): void {
    clearTimeout(this.#waits);
    const ask = this.#waiting;
    this.#waiting = undefined;
    ask?.();
  }

  /** Rows have changed. */
  changed(start: number, end: number): void {
    this.#first = Math.min(this.#first, start);
    this.#last = Math.max(this.#last, end);
    if (this.#timer !== undefined) return;
    const now = this.#now();
    const wait = this.#floods(now) ? this.#drawn + floodGap - now : 0;
    if (wait <= 0) this.#flush();
    else this.#timer = setTimeout(() => this.#flush(), wait);
  }

  dispose(): void {
    clearTimeout(this.#waits);
    this.#waiting = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #floods(now: number): boolean {
    this.#sink(now);
    return this.#level > floodBytes && now - this.#touched > presence;
  }

  /** Lets the level fall by what was calm. */
  #sink(now: number): void {
    this.#level = Math.max(0, this.#level - (now - this.#levelAt) * calmRate);
    this.#levelAt = now;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#last < 0) return;
    const [first, last] = [this.#first, this.#last];
    this.#first = Infinity;
    this.#last = -1;
    this.#drawn = this.#now();
    this.#draw(first, last);
  }
}
