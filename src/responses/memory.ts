import type { ResponseStore, StoredResponse } from "./store.ts";

/** The responses of one caller are kept in at most this much memory, in characters; the oldest go first. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Kept {
  readonly response: StoredResponse;
  readonly size: number;
}

/** Stored responses in the memory of one process, for runtimes without durable objects. */
export class MemoryResponseStore implements ResponseStore {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;
  readonly #limit: number;
  #size = 0;

  /** `now` gives milliseconds since the epoch; `limit` bounds what is kept, in characters. */
  constructor(now: () => number, limit = MAX_CHARACTERS) {
    this.#now = now;
    this.#limit = limit;
  }

  /** Whether nothing is kept any more. */
  get empty(): boolean {
    this.#forget();
    return this.#kept.size === 0;
  }

  async get(id: string): Promise<StoredResponse | null> {
    const kept = this.#kept.get(id);
    return kept === undefined || kept.response.expiresAt <= this.#now() ? null : kept.response;
  }

  async put(response: StoredResponse): Promise<void> {
    this.#delete(response.id);
    const size = response.body.length + JSON.stringify(response.messages).length;
    this.#kept.set(response.id, { response, size });
    this.#size += size;
    this.#forget();
  }

  /** Drops what has expired, then the oldest until the rest fits. */
  #forget(): void {
    const now = this.#now();
    for (const [id, { response }] of this.#kept) if (response.expiresAt <= now) this.#delete(id);
    for (const id of this.#kept.keys()) {
      if (this.#size <= this.#limit) return;
      this.#delete(id);
    }
  }

  #delete(id: string): void {
    this.#size -= this.#kept.get(id)?.size ?? 0;
    this.#kept.delete(id);
  }
}

/** The stores of all callers of one process. */
export function memoryResponseStores(now: () => number): (owner: string) => ResponseStore {
  const stores = new Map<string, MemoryResponseStore>();
  return (owner) => {
    let store = stores.get(owner);
    if (store === undefined) {
      for (const [name, other] of stores) if (other.empty) stores.delete(name);
      store = new MemoryResponseStore(now);
      stores.set(owner, store);
    }
    return store;
  };
}
