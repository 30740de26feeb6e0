import type { FileStore, KeptFile } from "./store.ts";

/** Files remembered for one caller at most; the oldest go first. */
const MAX_FILES = 10_000;

/** Uploaded files in the memory of one process, for runtimes without durable objects. */
class MemoryFileStore implements FileStore {
  readonly #kept = new Map<string, KeptFile>();
  readonly #now: () => number;

  /** `now` gives milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether nothing is remembered any more. */
  get empty(): boolean {
    this.#forget();
    return this.#kept.size === 0;
  }

  async get(id: string): Promise<KeptFile | null> {
    const kept = this.#kept.get(id);
    return kept === undefined || kept.expiresAt <= this.#now() ? null : kept;
  }

  async put(file: KeptFile): Promise<void> {
    this.#kept.delete(file.id);
    this.#kept.set(file.id, file);
    this.#forget();
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= MAX_FILES) return;
      this.#kept.delete(id);
    }
  }

  #forget(): void {
    const now = this.#now();
    for (const [id, { expiresAt }] of this.#kept) if (expiresAt <= now) this.#kept.delete(id);
  }
}

/** The stores of all callers of one process. */
export function memoryFileStores(now: () => number): (owner: string) => FileStore {
  const stores = new Map<string, MemoryFileStore>();
  return (owner) => {
    let store = stores.get(owner);
    if (store === undefined) {
      for (const [name, other] of stores) if (other.empty) stores.delete(name);
      store = new MemoryFileStore(now);
      stores.set(owner, store);
    }
    return store;
  };
}
