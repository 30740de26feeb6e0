import type { AnswerCache, CachedAnswer } from "../../core/ports/pages.ts";

/** A store for the bodies of cached answers. */
export interface BodyStore {
  /** Stores a body and returns its name. */
  put(body: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Rejects if the body no longer exists. */
  get(name: string): Promise<Uint8Array<ArrayBuffer>>;
  remove(name: string): void;
}

interface Entry {
  readonly headers: Headers;
  /** The body itself, or its name in the body store. */
  readonly body: Uint8Array<ArrayBuffer> | string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Approximate size of the entry in bytes. */
  readonly bytes: number;
}

/** Bytes of an entry in addition to its texts and its body. */
const ENTRY_OVERHEAD_BYTES = 500;

/**
 * A cache of answers within one process, for runtimes without their own cache. Evicts the least recently used entries.
 */
export class ProcessAnswerCache implements AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #bodies: BodyStore | null;
  #bytes = 0;

  /**
   * `now` returns milliseconds since the epoch. `maxBytes` limits the total size, including keys and headers. `bodies`
   * stores the bodies; null: keep them in memory.
   */
  constructor(now: () => number, maxBytes: number, bodies: BodyStore | null = null) {
    this.#now = now;
    this.#maxBytes = maxBytes;
    this.#bodies = bodies;
  }

  async match(key: string): Promise<CachedAnswer | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt <= this.#now()) {
      this.#delete(key);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const { headers, body } = entry;
    if (typeof body !== "string") return { headers, body };
    try {
      return { headers, body: (await this.#bodies?.get(body)) ?? new Uint8Array() };
    } catch {
      // The body was deleted externally.
      if (this.#entries.get(key) === entry) this.#delete(key);
      return undefined;
    }
  }

  /** Caches an answer for its `max-age`. */
  async put(key: string, answer: Response): Promise<void> {
    const seconds = Number(/max-age=(\d+)/.exec(answer.headers.get("cache-control") ?? "")?.[1] ?? 0);
    const content = new Uint8Array(await answer.arrayBuffer());
    const headers = new Headers(answer.headers);
    const texts = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
    const bytes = content.byteLength + 2 * texts + ENTRY_OVERHEAD_BYTES;
    if (seconds === 0 || bytes > this.#maxBytes) return;
    // An empty body stays in memory, so it can be cached even without a body store.
    const body = this.#bodies === null || content.length === 0 ? content : await this.#bodies.put(content);
    this.#delete(key);
    this.#add(key, { headers, body, expiresAt: this.#now() + seconds * 1_000, bytes });
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#delete(oldest);
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    if (typeof entry.body === "string") this.#bodies?.remove(entry.body);
  }
}
