/** A named collection of plain values. The sandbox keeps all its state on shelves, so that any store can hold it. */
export interface Shelf<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
  /** All entries in key order. */
  entries(): Iterable<[string, T]>;
}

/** One message of a session, as far as later turns depend on it. */
export interface StoredMessage {
  readonly id: string;
  /** The user text that it answered; a follow-up without one of its own goes on with this. */
  readonly user: string;
  /** True when it had no visible text, only reasoning. */
  readonly empty: boolean;
  /** What an `incomplete` message has still to say, one piece per continuation; empty when it is complete. */
  readonly rest: readonly string[];
  readonly promptTokens: number;
}

/** A chat session of one account. */
export interface StoredSession {
  readonly id: string;
  readonly account: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly messages: readonly StoredMessage[];
}

/** An uploaded file: its public object, its owner, and the start of its text when it is text. */
export interface StoredFile {
  readonly account: string;
  readonly object: FileObject;
  readonly excerpt: string;
}

/** The file object of the provider protocol. */
export interface FileObject {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: "pending" | "processed" | "failed";
  /** Unix seconds. */
  readonly created_at: number;
}

/** A turn as received, for tests to look at. */
export interface TurnRecord {
  readonly account: string;
  readonly session: string;
  readonly message_id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The body of the request; prompts of more than 200,000 characters are cut. */
  readonly turn: string;
}

/** All state of the sandbox. */
export interface Shelves {
  readonly sessions: Shelf<StoredSession>;
  readonly files: Shelf<StoredFile>;
  readonly turns: Shelf<TurnRecord>;
  /** Serial numbers and counts by name. */
  readonly counters: Shelf<number>;
  /** Faults that have been served, by what they were for. */
  readonly marks: Shelf<string>;
  /** Streams that are open now: milliseconds since the epoch at which each began. */
  readonly streams: Shelf<number>;
}

/** A shelf in memory. */
class MemoryShelf<T> implements Shelf<T> {
  readonly #items = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  put(key: string, value: T): void {
    this.#items.set(key, value);
  }

  delete(key: string): void {
    this.#items.delete(key);
  }

  entries(): Iterable<[string, T]> {
    return [...this.#items].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }
}

/** Empty shelves in memory. */
export function memoryShelves(): Shelves {
  return {
    sessions: new MemoryShelf<StoredSession>(),
    files: new MemoryShelf<StoredFile>(),
    turns: new MemoryShelf<TurnRecord>(),
    counters: new MemoryShelf<number>(),
    marks: new MemoryShelf<string>(),
    streams: new MemoryShelf<number>(),
  };
}
