import type { AnswerCache, CachedAnswer } from "../platform/pages.ts";

/** Where the bodies of answers are. */
export interface BodyStore {
  /** Keeps a body, and says by which name. */
  put(body: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Rejects when there is none any more. */
  get(name: string): Promise<Uint8Array<ArrayBuffer>>;
  remove(name: string): void;
}

interface Entry {
  readonly headers: Headers;
  /** Itself, or its name in the store of bodies. */
  readonly body: Uint8Array<ArrayBuffer> | string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Bytes that the entry takes in memory, about. */
  readonly bytes: number;
}

/** What an entry takes besides its texts and its body. */
const OVERHEAD = 500;

/** Answers kept by one process, for runtimes without a cache of their own; the one used least recently goes first. */
export class ProcessAnswerCache implements AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  readonly #bodies: BodyStore | null;
  #bytes = 0;

  /** `now` gives milliseconds since the epoch; `maxBytes` bounds all that is kept, keys and headers included; `bodies`: null: in memory. */
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
      // Somebody has cleared it away.
      if (this.#entries.get(key) === entry) this.#delete(key);
      return undefined;
    }
  }

  /** Keeps an answer for as long as its `max-age` says. */
  async put(key: string, answer: Response): Promise<void> {
    const seconds = Number(/max-age=(\d+)/.exec(answer.headers.get("cache-control") ?? "")?.[1] ?? 0);
    const content = new Uint8Array(await answer.arrayBuffer());
    const headers = new Headers(answer.headers);
    const texts = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
    const bytes = content.byteLength + 2 * texts + OVERHEAD;
    if (seconds === 0 || bytes > this.#maxBytes) return;
    // What has no body needs no place for it, and is kept where there is none.
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
