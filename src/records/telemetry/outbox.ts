import type { ConfigSnapshot, ConfigurationStore } from "../../core/config/snapshot.ts";
import { oncePer } from "../../core/encoding/once-per.ts";
import {
  type Archive,
  EndedRecordsLost,
  type HistoryWrite,
  type MetricDeltas,
  type Retention,
} from "../../core/ports/archive.ts";
import type { Capture } from "../../core/ports/captures.ts";
import type { OutcomeStore, StoredOutcome } from "../../core/ports/outcome-store.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { UsageStore, UsedRequest } from "../../core/ports/usage.ts";
import { UsageTally } from "../usage/usage-tally.ts";
import { Batcher } from "./batcher.ts";
import { Counts } from "./counts.ts";

/** Minimum interval between an isolate's messages to the archive, milliseconds. */
const SEND_INTERVAL_MS = 500;
/** The same if only counts wait. */
const COUNTS_INTERVAL_MS = 2_000;
/** Limit of requests that wait to send a message. One would be enough, but it may die. */
const MAX_WAITERS = 4;
/** A message that takes longer than this belongs to a request that died. */
const STUCK_MS = 5_000;
/** How long a request retries to report usage. After its end, Workers give it half a minute. */
const USAGE_RETRY_MS = 25_000;
/** Limit of waiting captures while the archive is unreachable. */
const MAX_CAPTURES = 500;
/** Limit of waiting records; the oldest are dropped first. */
const MAX_RECORDS = 5_000;
/**
 * Limit of characters of waiting records. Beyond it, the oldest keep only the beginnings of their texts. Text that a running
 * generation holds anyway does not count.
 */
const MAX_RECORD_CHARS = 8 * 1024 * 1024;
/** Size of a record in a message besides its texts, in characters. */
const RECORD_OVERHEAD_CHARS = 1_000;
/** Limit of characters of waiting captures: it bounds the isolate's memory. */
const MAX_CAPTURE_CHARS = 24 * 1024 * 1024;
/** Limit of characters in one message. */
const MAX_MESSAGE_CHARS = 6 * 1024 * 1024;

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
  /** Whether it is a record of refused requests, which have a limit of their own. Absent: no. */
  readonly isRefusal?: boolean;
  /** Cuts its texts to their beginnings. The outcome of the generation is not lost. */
  shorten(): void;
  /** The last result of `write` did not reach the archive. */
  markUndelivered(): void;
}

/** The retention limits of a configuration. */
export function getRetention({ version, config }: ConfigSnapshot): Retention {
  return { version, records: config.history.limit, captures: config.captures.limit };
}

/** The dependencies of an outbox. */
export interface OutboxOptions {
  readonly archive: Archive;
  readonly usage: Pick<UsageStore, "write">;
  /** Writes outcomes at once; absent if there is no such store. */
  readonly answers?: OutcomeStore | undefined;
  /** Read when a message is sent, for the retention limits: waiting data may be newer than the sending request. */
  readonly configuration: Pick<ConfigurationStore, "read">;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Collects an isolate's reports to the archive, and sends them in few messages in the background. If the archive fails, no
 * request fails: the next message repeats everything that the archive did not store.
 *
 * Where the stores are in the same process (`OutcomeStore`), `endRequest` writes a request's outcome at once, without a
 * message. A {@link Batcher} decides when and by which request a message is sent.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  /** Waiting records, with the characters that each held when it was added. */
  #records = new Map<RecordSource, number>();
  /** Waiting records that hold characters and are not shortened yet. */
  #unshortened = new Set<RecordSource>();
  #recordChars = 0;
  #captures: Capture[] = [];
  #captureChars = 0;
  readonly counts = new Counts();
  readonly usage = new UsageTally();
  readonly #batcher: Batcher;
  /** The last message did not deliver the usage. */
  #isUsageUndelivered = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#batcher = new Batcher({
      now: options.now,
      sleep: options.sleep,
      getDelayMs: () =>
        this.#records.size > 0 || this.#captures.length > 0 ? SEND_INTERVAL_MS : COUNTS_INTERVAL_MS,
      isEmpty: () => this.#isEmpty(),
      send: async () => {
        await this.#send();
        // Records can wait for the next message. Usage must not: it would depend on a next request, which may never come.
        return this.#isUsageUndelivered;
      },
      maxWaiters: MAX_WAITERS,
      stuckMs: STUCK_MS,
      retryMs: USAGE_RETRY_MS,
      pollMs: SEND_INTERVAL_MS,
    });
  }

  /** Adds or updates a generation's record. */
  record(source: RecordSource): void {
    this.#trackRecord(source);
    for (const oldest of this.#unshortened) {
      if (this.#recordChars <= MAX_RECORD_CHARS) break;
      oldest.shorten();
      this.#trackRecord(oldest);
      this.#unshortened.delete(oldest);
    }
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS) return;
      this.#drop(oldest);
    }
  }

  #drop(source: RecordSource): void {
    this.#recordChars -= this.#records.get(source) ?? 0;
    this.#records.delete(source);
    this.#unshortened.delete(source);
  }

  /**
   * Ends a request before its response ends. Counts its usage, and writes the outcome at once if there is an `OutcomeStore`.
   *
   * @param used usage of the request; null: none
   * @param snapshot the configuration that the request read; null: it read none, and has nothing to write
   * @returns the error of the store, if it failed; the outcome then goes with the next message. Null otherwise.
   */
  endRequest(used: UsedRequest | null, snapshot: ConfigSnapshot | null): Error | null {
    const { answers, now } = this.#options;
    const endedAt = now();
    let note: number | undefined;
    let failure: Error | null = null;
    if (answers !== undefined && snapshot !== null) {
      try {
        note = this.#writeOutcome(answers, { retention: getRetention(snapshot), used, endedAt });
      } catch (error) {
        failure = error instanceof Error ? error : new Error("not an error");
      }
    }
    if (used !== null) this.usage.count(used, endedAt, note);
    return failure;
  }

  /**
   * Writes the records of all ended generations, which are those of this request, with its usage. Throws the store's error.
   */
  #writeOutcome(answers: OutcomeStore, outcome: Omit<StoredOutcome, "records">): number | undefined {
    const ended = [...this.#records.keys()].filter(({ hasEnded }) => hasEnded);
    if (ended.length === 0 && outcome.used === null) return undefined;
    try {
      const note = answers.write({ ...outcome, records: ended.map((source) => source.write()) });
      for (const source of ended) this.#drop(source);
      return note;
    } catch (error) {
      for (const source of ended) source.markUndelivered();
      throw error;
    }
  }

  #trackRecord(source: RecordSource): void {
    const { characters } = source;
    this.#recordChars += characters - (this.#records.get(source) ?? 0);
    this.#records.set(source, characters);
    if (characters > 0) this.#unshortened.add(source);
  }

  /** Adds a capture; drops it if too many wait. */
  capture(capture: Capture): void {
    const chars = capture.request_body.length + capture.response_body.length;
    if (this.#captures.length >= MAX_CAPTURES || this.#captureChars + chars > MAX_CAPTURE_CHARS) return;
    this.#captures.push(capture);
    this.#captureChars += chars;
  }

  get hasCaptures(): boolean {
    return this.#captures.length > 0;
  }

  /**
   * Resolves when everything that waits now is sent, by any request; null if enough other requests wait for that. Never
   * rejects. Pass it to `waitUntil`.
   */
  waitUntilSent(): Promise<void> | null {
    return this.#batcher.waitUntilSent();
  }

  #forgetRecords(): void {
    this.#records = new Map();
    this.#unshortened = new Set();
    this.#recordChars = 0;
  }

  #isEmpty(): boolean {
    return (
      this.#records.size === 0 && this.#captures.length === 0 && this.counts.isEmpty && this.usage.isEmpty
    );
  }

  async #send(): Promise<void> {
    const { archive, configuration } = this.#options;
    const { requiresWholeRecords = false } = archive;
    let sources: readonly RecordSource[] = [];
    let captures: Capture[] = [];
    let metrics: MetricDeltas | null = null;
    this.#isUsageUndelivered = !this.usage.isEmpty;
    let usageSent: Promise<void> | undefined;
    let areMetricsSent = false;
    let at = 0;
    let lostError: EndedRecordsLost | null = null;
    try {
      const snapshot = await configuration.read();
      // Not taken earlier: in the same process, `endRequest` must find a record here until the archive has it.
      sources = [...this.#records.keys()];
      captures = this.#captures;
      metrics = this.counts.take();
      this.#forgetRecords();
      this.#captures = [];
      this.#captureChars = 0;
      usageSent = this.#sendUsage(snapshot);
      const retention = getRetention(snapshot);
      const toSend = selectRecordsToSend(sources, retention.records);
      do {
        const records: HistoryWrite[] = [];
        const batch: Capture[] = [];
        let chars = 0;
        for (; at < toSend.length && chars < MAX_MESSAGE_CHARS; at += 1) {
          const write = toSend[at]?.write(requiresWholeRecords);
          if (write === undefined) continue;
          records.push(write);
          chars += countCharacters(write) + RECORD_OVERHEAD_CHARS;
        }
        while (captures.length > 0 && chars < MAX_MESSAGE_CHARS) {
          const capture = captures.shift();
          if (capture === undefined) break;
          batch.push(capture);
          chars += capture.request_body.length + capture.response_body.length;
        }
        try {
          const pending = archive.write({
            retention,
            records,
            captures: batch,
            metrics: areMetricsSent ? {} : metrics,
          });
          if (pending !== undefined) await pending;
        } catch (error) {
          if (!(error instanceof EndedRecordsLost)) throw error;
          lostError = error;
        }
        areMetricsSent = true;
      } while (at < toSend.length || captures.length > 0);
      if (lostError !== null) throw lostError;
    } catch {
      for (const source of sources) source.markUndelivered();
      // Reports that arrived meanwhile are newer, so add them last.
      const newerSources = [...this.#records.keys()];
      this.#forgetRecords();
      for (const source of sources) this.record(source);
      for (const source of newerSources) this.record(source);
      for (const capture of captures) this.capture(capture);
      if (!areMetricsSent && metrics !== null) this.counts.restore(metrics);
    } finally {
      await usageSent;
    }
  }

  /** Reports the usage. Never throws: a failed report is repeated. */
  async #sendUsage(snapshot: ConfigSnapshot): Promise<void> {
    if (this.usage.isEmpty) return;
    const { usage, now } = this.#options;
    try {
      await this.usage.send(usage, snapshot, now());
      this.#isUsageUndelivered = false;
    } catch {
      this.#isUsageUndelivered = true;
    }
  }
}

/** Selects the records that the archive will not drop at once. `maxRecords` is how many it stores; 0: none. */
function selectRecordsToSend(sources: readonly RecordSource[], maxRecords: number): readonly RecordSource[] {
  if (maxRecords === 0) return [];
  if (sources.length <= maxRecords) return sources;
  const generations = sources.filter(({ isRefusal }) => isRefusal !== true);
  const excess = generations.length - maxRecords;
  if (excess <= 0) return sources;
  const byAge = generations.toSorted((a, b) => a.createdAt - b.createdAt);
  const selected = byAge.filter(({ isKnownToArchive }, index) => isKnownToArchive || index >= excess);
  return [...selected, ...sources.filter(({ isRefusal }) => isRefusal === true)];
}

/** Length of a record's texts in characters. */
export function countCharacters({ request, reasoning, content }: HistoryWrite): number {
  const { messages = "", prompt = "", options = "" } = request ?? {};
  return messages.length + prompt.length + options.length + reasoning.length + content.length;
}

/** The parts of a platform that an outbox needs. */
export type OutboxPlatform = Pick<Platform, "archive" | "usage" | "outcomes" | "configuration" | "now">;

/** The outbox of this isolate. */
export const getOutbox = oncePer(
  (platform: OutboxPlatform) =>
    new Outbox({
      archive: platform.archive,
      usage: platform.usage,
      answers: platform.outcomes,
      configuration: platform.configuration,
      now: platform.now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    }),
);
