import type { AnswerCache, CachedAnswer } from "../platform/pages.ts";

interface Entry {
  readonly answer: CachedAnswer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Bytes that the entry takes in memory, about. */
  readonly bytes: number;
}

/** What an entry takes besides its texts and its body. */
const OVERHEAD = 500;

/** Answers kept in the memory of one process, for runtimes without a cache of their own; the one used least recently goes first. */
export class MemoryAnswerCache implements AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** `now` gives milliseconds since the epoch; `maxBytes` bounds all that is kept, keys and headers included. */
  constructor(now: () => number, maxBytes: number) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  async match(key: string): Promise<CachedAnswer | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key);
    if (entry.expiresAt <= this.#now()) return undefined;
    this.#add(key, entry);
    return entry.answer;
  }

  /** Keeps an answer for as long as its `max-age` says. */
  async put(key: string, answer: Response): Promise<void> {
    const seconds = Number(/max-age=(\d+)/.exec(answer.headers.get("cache-control") ?? "")?.[1] ?? 0);
    const body = new Uint8Array(await answer.arrayBuffer());
    const headers = new Headers(answer.headers);
    const texts = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length, key.length);
    const bytes = body.byteLength + 2 * texts + OVERHEAD;
    if (seconds === 0 || bytes > this.#maxBytes) return;
    this.#delete(key);
    this.#add(key, { answer: { body, headers }, expiresAt: this.#now() + seconds * 1_000, bytes });
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
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
