import type { HistoryWrite } from "../../core/ports/archive.ts";

/** Limit of waiting records; the oldest are dropped first. */
const MAX_RECORDS = 5_000;
/**
 * Limit of characters of waiting records. Beyond it, the oldest keep only the beginnings of their texts. Text that a running
 * generation holds anyway does not count.
 */
const MAX_RECORD_CHARS = 8 * 1024 * 1024;

/** A generation in progress, as the source of the archive's record. */
export interface RecordSource {
  /**
   * Returns the current state. It may omit texts that the archive already has, unless the generation has ended and `whole`
   * is set.
   */
  write(whole?: boolean): HistoryWrite;
  /** Characters in memory only for the archive. */
  readonly characters: number;
  /** When the request arrived, Unix milliseconds: the archive stores the newest records. */
  readonly createdAt: number;
  /** Whether the archive may know the record: then it must also get the outcome. */
  readonly isKnownToArchive: boolean;
  readonly hasEnded: boolean;
  /** Whether a limit may still refuse the request, which then loses this record. Absent: no. */
  readonly mayBeRefused?: boolean;
  /** Whether it is a record of refused requests, which have a limit of their own. Absent: no. */
  readonly isRefusal?: boolean;
  /** Cuts its texts to their beginnings. The outcome of the generation is not lost. */
  shorten(): void;
  /** The last result of `write` did not reach the archive. */
  markUndelivered(): void;
}

/**
 * The records of generations that wait to be sent to the archive, in the order in which they were first added. Their number
 * and the memory that they hold are bounded.
 */
export class WaitingRecords {
  /** With the characters that each held when it was added last. */
  #sources = new Map<RecordSource, number>();
  /** Those that hold characters and are not shortened yet. */
  #unshortened = new Set<RecordSource>();
  #characters = 0;

  get size(): number {
    return this.#sources.size;
  }

  /** Adds or updates a record. Beyond the limits, the oldest records lose the ends of their texts, or are dropped. */
  add(source: RecordSource): void {
    this.#track(source);
    for (const oldest of this.#unshortened) {
      if (this.#characters <= MAX_RECORD_CHARS) break;
      oldest.shorten();
      this.#track(oldest);
      this.#unshortened.delete(oldest);
    }
    for (const oldest of this.#sources.keys()) {
      if (this.#sources.size <= MAX_RECORDS) return;
      this.remove(oldest);
    }
  }

  remove(source: RecordSource): void {
    this.#characters -= this.#sources.get(source) ?? 0;
    this.#sources.delete(source);
    this.#unshortened.delete(source);
  }

  listEnded(): RecordSource[] {
    return [...this.#sources.keys()].filter(({ hasEnded }) => hasEnded);
  }

  /** Returns and removes all records except those that must wait. */
  takeAll(mustWait: (source: RecordSource) => boolean = () => false): readonly RecordSource[] {
    const sources = [...this.#sources.keys()];
    this.#sources = new Map();
    this.#unshortened = new Set();
    this.#characters = 0;
    for (const source of sources) if (mustWait(source)) this.add(source);
    return sources.filter((source) => !this.#sources.has(source));
  }

  /** Puts records back that were taken, before those that were added meanwhile: the latter are newer. */
  putBack(sources: readonly RecordSource[]): void {
    for (const source of [...sources, ...this.takeAll()]) this.add(source);
  }

  #track(source: RecordSource): void {
    const { characters } = source;
    this.#characters += characters - (this.#sources.get(source) ?? 0);
    this.#sources.set(source, characters);
    if (characters > 0) this.#unshortened.add(source);
  }
}

/** Selects the records that the archive will not drop at once. `maxRecords` is how many it stores; 0: none. */
export function selectRecordsToSend(
  sources: readonly RecordSource[],
  maxRecords: number,
): readonly RecordSource[] {
  if (maxRecords === 0) return [];
  if (sources.length <= maxRecords) return sources;
  const generations = sources.filter(({ isRefusal }) => isRefusal !== true);
  const excess = generations.length - maxRecords;
  if (excess <= 0) return sources;
  const byAge = generations.toSorted((a, b) => a.createdAt - b.createdAt);
  const selected = byAge.filter(({ isKnownToArchive }, index) => isKnownToArchive || index >= excess);
  return [...selected, ...sources.filter(({ isRefusal }) => isRefusal === true)];
}
