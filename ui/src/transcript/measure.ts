// Which entries of a long list are drawn, by height. Pure arithmetic over one array of heights:
// what was not drawn yet is estimated, what was drawn is remembered. Knows nothing of the DOM.

/** A stretch of entries, `to` not included, with the room before and after it. */
export interface Stretch {
  from: number;
  to: number;
  before: number;
  after: number;
}

export class Heights {
  readonly #known = new Map<string, number>();
  #keys: readonly string[] = [];
  /** What entries are reckoned with until they are drawn. */
  #guessed: number[] = [];
  /** Distance of each entry from the top; one longer than the list. */
  #tops = new Float64Array(1);
  /** Entries before this one have a right distance. */
  #right = 0;

  /** Takes a new list. Entries that stay keep their heights and their guess. */
  take(keys: readonly string[], guess: (at: number) => number): void {
    let same = 0;
    while (same < keys.length && keys[same] === this.#keys[same]) same += 1;
    this.#keys = keys;
    this.#guessed.length = same;
    for (let at = same; at < keys.length; at += 1) this.#guessed.push(guess(at));
    if (this.#tops.length < keys.length + 1) {
      const grown = new Float64Array(Math.ceil((keys.length + 1) * 1.5));
      grown.set(this.#tops);
      this.#tops = grown;
    }
    this.#right = Math.min(this.#right, same);
  }

  /** Takes the height of a drawn entry; by how much it differs from what was reckoned with. */
  measured(at: number, height: number): number {
    const key = this.#keys[at];
    if (key === undefined) return 0;
    const before = this.heightOf(at);
    if (before === height) return 0;
    this.#known.set(key, height);
    this.#right = Math.min(this.#right, at);
    return height - before;
  }

  heightOf(at: number): number {
    return this.#known.get(this.#keys[at] ?? '') ?? this.#guessed[at] ?? 0;
  }

  /** Distance of an entry from the top; of the end for the length of the list. */
  topOf(at: number): number {
    const end = Math.min(at, this.#keys.length);
    for (let n = this.#right; n < end; n += 1) {
      this.#tops[n + 1] = (this.#tops[n] ?? 0) + this.heightOf(n);
    }
    if (end > this.#right) this.#right = end;
    return this.#tops[end] ?? 0;
  }

  get total(): number {
    return this.topOf(this.#keys.length);
  }

  /** The entry at a distance from the top. */
  at(distance: number): number {
    let low = 0;
    let high = this.#keys.length - 1;
    this.topOf(this.#keys.length);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#tops[middle] ?? 0) <= distance) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** What must be drawn so that a view of `height` at `top` is covered, with `spare` above and below. */
  stretch(top: number, height: number, spare: number): Stretch {
    const count = this.#keys.length;
    if (count === 0) return { from: 0, to: 0, before: 0, after: 0 };
    const from = this.at(Math.max(0, top - spare));
    const to = Math.min(count, this.at(top + height + spare) + 1);
    return { from, to, before: this.topOf(from), after: this.total - this.topOf(to) };
  }
}
