/** A binary min-heap whose members can be removed, and whose keys can be changed, in logarithmic time. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #keys: number[] = [];
  readonly #places = new Map<T, number>();

  get size(): number {
    return this.#items.length;
  }

  /** The member with the smallest key. */
  get first(): T | undefined {
    return this.#items[0];
  }

  /** The smallest key; `Infinity` when empty. */
  get firstKey(): number {
    return this.#keys[0] ?? Number.POSITIVE_INFINITY;
  }

  /** All members, in no particular order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#items.values();
  }

  has(item: T): boolean {
    return this.#places.has(item);
  }

  /** Adds `item`, or updates its key when it is already a member. */
  set(item: T, key: number): void {
    const place = this.#places.get(item);
    if (place === undefined) {
      this.#up(this.#items.length, item, key);
      return;
    }
    const old = this.#keys[place] ?? key;
    if (key < old) this.#up(place, item, key);
    else if (key > old) this.#down(place, item, key);
  }

  /** Removes `item`; does nothing when it is not a member. */
  delete(item: T): void {
    if (this.#items.length === 0) return;
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    const key = this.#keys.pop();
    if (last === undefined || key === undefined || last === item) return;
    const parent = (place - 1) >> 1;
    if (place > 0 && key < (this.#keys[parent] ?? key)) this.#up(place, last, key);
    else this.#down(place, last, key);
  }

  #put(place: number, item: T, key: number): void {
    this.#items[place] = item;
    this.#keys[place] = key;
    this.#places.set(item, place);
  }

  #up(from: number, item: T, key: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#items[parent];
      const aboveKey = this.#keys[parent];
      if (above === undefined || aboveKey === undefined || aboveKey <= key) break;
      this.#put(place, above, aboveKey);
      place = parent;
    }
    this.#put(place, item, key);
  }

  #down(from: number, item: T, key: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const leftKey = this.#keys[left];
      if (leftKey === undefined) break;
      const child = (this.#keys[left + 1] ?? Number.POSITIVE_INFINITY) < leftKey ? left + 1 : left;
      const below = this.#items[child];
      const belowKey = this.#keys[child];
      if (below === undefined || belowKey === undefined || belowKey >= key) break;
      this.#put(place, below, belowKey);
      place = child;
    }
    this.#put(place, item, key);
  }
}
