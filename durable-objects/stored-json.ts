import { splitText } from "../src/core/encoding/text-slices.ts";

/** Characters of one piece: at most 1.5 MB, below the 2 MB limit of a stored value. */
const PIECE = 500_000;

/**
 * Stores one JSON value of any size in an object's storage, in pieces: a configuration with thousands of accounts exceeds
 * the size of a single value.
 */
export class StoredJson<T> {
  readonly #storage: DurableObjectStorage;
  readonly #key: string;

  constructor(storage: DurableObjectStorage, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  /** The value, or null when none was saved. */
  load(): T | null {
    const { kv } = this.#storage;
    const count = kv.get<number>(this.#key);
    if (count === undefined) return null;
    let text = "";
    for (let index = 0; index < count; index += 1) text += kv.get<string>(this.#piece(index)) ?? "";
    return JSON.parse(text);
  }

  /** Replaces the value in one transaction, together with what `also` stores. */
  save(value: T, also?: () => void): void {
    const { kv } = this.#storage;
    const pieces = [...splitText(JSON.stringify(value), PIECE)];
    this.#storage.transactionSync(() => {
      const previousCount = kv.get<number>(this.#key) ?? 0;
      for (const [index, piece] of pieces.entries()) kv.put(this.#piece(index), piece);
      for (let index = pieces.length; index < previousCount; index += 1) kv.delete(this.#piece(index));
      kv.put(this.#key, pieces.length);
      also?.();
    });
  }

  #piece(index: number): string {
    return `${this.#key} ${index}`;
  }
}
