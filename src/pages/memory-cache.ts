import type { AnswerCache } from "../platform/pages.ts";

interface Entry {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: readonly (readonly [string, string])[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Answers kept in the memory of one process, for runtimes without a cache of their own; the one used least recently goes first. */
export class MemoryAnswerCache implements AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** `now` gives milliseconds since the epoch; `maxBytes` bounds the bodies. */
  constructor(now: () => number, maxBytes: number) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  async match(key: string): Promise<Response | undefined> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key);
    if (entry.expiresAt <= this.#now()) return undefined;
    this.#add(key, entry);
    return new Response(entry.body, { headers: entry.headers.map(([name, value]) => [name, value]) });
  }

  /** Keeps an answer for as long as its `max-age` says. */
  async put(key: string, answer: Response): Promise<void> {
    const seconds = Number(/max-age=(\d+)/.exec(answer.headers.get("cache-control") ?? "")?.[1] ?? 0);
    const body = new Uint8Array(await answer.arrayBuffer());
    if (seconds === 0 || body.byteLength > this.#maxBytes) return;
    this.#delete(key);
    this.#add(key, { body, headers: [...answer.headers], expiresAt: this.#now() + seconds * 1_000 });
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#delete(oldest);
    }
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.body.byteLength;
  }

  #delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.body.byteLength ?? 0;
    this.#entries.delete(key);
  }
}
