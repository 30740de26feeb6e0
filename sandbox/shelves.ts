/**
 * A named key-value store of plain values. The sandbox keeps all its state in such stores, so that any backend can hold it.
 */
export interface KeyValueStore<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
  /** All entries in key order. */
  entries(): Iterable<[string, T]>;
}

/** The part of a session's message that later turns need. */
export interface StoredMessage {
  readonly id: string;
  /** The user text that the message answered. A follow-up without user text continues with this text. */
  readonly user: string;
  /** Whether the message had no visible text, only reasoning. */
  readonly empty: boolean;
  /** Remaining pieces of an `incomplete` message, one per continuation; empty if it is complete. */
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

/** An uploaded file: its public object, its account, and the start of its text. */
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

/** A received turn, for inspection by tests. */
export interface TurnRecord {
  readonly account: string;
  readonly session: string;
  readonly message_id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Request body. Prompts of more than 200,000 characters are truncated. */
  readonly turn: string;
}

/** All state of the sandbox. */
export interface SandboxStores {
  readonly sessions: KeyValueStore<StoredSession>;
  readonly files: KeyValueStore<StoredFile>;
  readonly turns: KeyValueStore<TurnRecord>;
  /** Serial numbers and counters by name. */
  readonly counters: KeyValueStore<number>;
  /** Faults that were already served, by their key. */
  readonly marks: KeyValueStore<string>;
  /** Open streams, with their start in milliseconds since the epoch. */
  readonly streams: KeyValueStore<number>;
}

/** A store in memory. */
class MemoryStore<T> implements KeyValueStore<T> {
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

/** Creates empty stores in memory. */
export function createMemoryStores(): SandboxStores {
  return {
    sessions: new MemoryStore<StoredSession>(),
    files: new MemoryStore<StoredFile>(),
    turns: new MemoryStore<TurnRecord>(),
    counters: new MemoryStore<number>(),
    marks: new MemoryStore<string>(),
    streams: new MemoryStore<number>(),
  };
}
