/** A binary min-heap whose members can be removed, and whose keys can be changed, in logarithmic time. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #keys: number[] = [];
  readonly #indices = new Map<T, number>();

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
    return this.#indices.has(item);
  }

  /** Adds `item`, or updates its key when it is already a member. */
  set(item: T, key: number): void {
    const index = this.#indices.get(item);
    if (index === undefined) {
      this.#siftUp(this.#items.length, item, key);
      return;
    }
    const currentKey = this.#keys[index] ?? key;
    if (key < currentKey) this.#siftUp(index, item, key);
    else if (key > currentKey) this.#siftDown(index, item, key);
  }

  /** Removes `item`; does nothing when it is not a member. */
  delete(item: T): void {
    if (this.#items.length === 0) return;
    const index = this.#indices.get(item);
    if (index === undefined) return;
    this.#indices.delete(item);
    const last = this.#items.pop();
    const key = this.#keys.pop();
    if (last === undefined || key === undefined || last === item) return;
    const parent = (index - 1) >> 1;
    if (index > 0 && key < (this.#keys[parent] ?? key)) this.#siftUp(index, last, key);
    else this.#siftDown(index, last, key);
  }

  #setAt(index: number, item: T, key: number): void {
    this.#items[index] = item;
    this.#keys[index] = key;
    this.#indices.set(item, index);
  }

  #siftUp(from: number, item: T, key: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const parentItem = this.#items[parent];
      const parentKey = this.#keys[parent];
      if (parentItem === undefined || parentKey === undefined || parentKey <= key) break;
      this.#setAt(index, parentItem, parentKey);
      index = parent;
    }
    this.#setAt(index, item, key);
  }

  #siftDown(from: number, item: T, key: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const leftKey = this.#keys[left];
      if (leftKey === undefined) break;
      const child = (this.#keys[left + 1] ?? Number.POSITIVE_INFINITY) < leftKey ? left + 1 : left;
      const childItem = this.#items[child];
      const childKey = this.#keys[child];
      if (childItem === undefined || childKey === undefined || childKey >= key) break;
      this.#setAt(index, childItem, childKey);
      index = child;
    }
    this.#setAt(index, item, key);
  }
}
