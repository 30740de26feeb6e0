import type { ConfigSnapshot, ConfigurationStore } from "../../core/config/snapshot.ts";
import { oncePer } from "../../core/encoding/once.ts";
import {
  type Archive,
  countCharacters,
  EndedRecordsLost,
  type HistoryWrite,
  type MetricDeltas,
  type Retention,
} from "../../core/ports/archive.ts";
import type { Capture } from "../../core/ports/captures.ts";
import { sleep } from "../../core/ports/clock.ts";
import type { OutcomeStore, StoredOutcome } from "../../core/ports/outcome-store.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { RequestUsage, UsageStore } from "../../core/ports/usage.ts";
import { UsageTally } from "../usage/usage-tally.ts";
import { Batcher } from "./batcher.ts";
import { Counts } from "./counts.ts";
import { type RecordSource, selectRecordsToSend, WaitingRecords } from "./waiting-records.ts";

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
/** Size of a record in a message without its texts, in characters. */
const RECORD_OVERHEAD_CHARS = 1_000;
/** Limit of characters of waiting captures: it bounds the isolate's memory. */
const MAX_CAPTURE_CHARS = 24 * 1024 * 1024;
/** Limit of characters in one message. */
const MAX_MESSAGE_CHARS = 6 * 1024 * 1024;

/** The retention limits of a configuration. */
export function getRetention({ version, config }: ConfigSnapshot): Retention {
  return { version, records: config.history.limit, captures: config.captures.limit };
}

/** The dependencies of an outbox. */
export interface OutboxOptions {
  readonly archive: Archive;
  readonly usage: Pick<UsageStore, "write">;
  /** Writes outcomes at once; absent if there is no such store. */
  readonly outcomes?: OutcomeStore | undefined;
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
  readonly #records = new WaitingRecords();
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
    this.#records.add(source);
  }

  /** Drops a record that the archive does not know. */
  discard(source: RecordSource): void {
    this.#records.remove(source);
  }

  /**
   * Ends a request before its response ends. Counts its usage, and writes the outcome at once if there is an `OutcomeStore`.
   *
   * @param used usage of the request; null: none
   * @param snapshot the configuration that the request read; null: it read none, and has nothing to write
   * @returns the error of the store, if it failed; the outcome then goes with the next message. Null otherwise.
   */
  endRequest(used: RequestUsage | null, snapshot: ConfigSnapshot | null): Error | null {
    const { outcomes, now } = this.#options;
    const endedAt = now();
    let note: number | undefined;
    let failure: Error | null = null;
    if (outcomes !== undefined && snapshot !== null) {
      try {
        note = this.#writeOutcome(outcomes, { retention: getRetention(snapshot), used, endedAt });
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
  #writeOutcome(outcomes: OutcomeStore, outcome: Omit<StoredOutcome, "records">): number | undefined {
    const ended = this.#records.listEnded();
    if (ended.length === 0 && outcome.used === null) return undefined;
    try {
      const note = outcomes.write({ ...outcome, records: ended.map((source) => source.write()) });
      for (const source of ended) this.#records.remove(source);
      return note;
    } catch (error) {
      for (const source of ended) source.markUndelivered();
      throw error;
    }
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
    let lostError: EndedRecordsLost | null = null;
    try {
      const snapshot = await configuration.read();
      // Not taken earlier: in the same process, `endRequest` must find a record here until the archive has it.
      sources = this.#records.takeAll((source) => this.#isUndecided(source));
      captures = this.#captures;
      metrics = this.counts.take();
      this.#captures = [];
      this.#captureChars = 0;
      usageSent = this.#sendUsage(snapshot);
      const retention = getRetention(snapshot);
      const toSend = [...selectRecordsToSend(sources, retention.records)];
      do {
        const message = takeMessage(toSend, captures, requiresWholeRecords);
        try {
          const pending = archive.write({ retention, ...message, metrics: areMetricsSent ? {} : metrics });
          if (pending !== undefined) await pending;
        } catch (error) {
          if (!(error instanceof EndedRecordsLost)) throw error;
          lostError = error;
        }
        areMetricsSent = true;
      } while (toSend.length > 0 || captures.length > 0);
      if (lostError !== null) throw lostError;
    } catch {
      for (const source of sources) source.markUndelivered();
      this.#records.putBack(sources);
      for (const capture of captures) this.capture(capture);
      if (!areMetricsSent && metrics !== null) this.counts.restore(metrics);
    } finally {
      await usageSent;
    }
  }

  /** Whether a limit is likely to refuse or admit the request before the next message. */
  #isUndecided({ mayBeRefused = false, createdAt }: RecordSource): boolean {
    return mayBeRefused && Math.abs(this.#options.now() - createdAt) < SEND_INTERVAL_MS;
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

/** Takes the records and captures that fit into one message to the archive from the beginnings of both lists. */
function takeMessage(
  sources: RecordSource[],
  waitingCaptures: Capture[],
  isWhole: boolean,
): { readonly records: HistoryWrite[]; readonly captures: Capture[] } {
  const records: HistoryWrite[] = [];
  const captures: Capture[] = [];
  let chars = 0;
  while (chars < MAX_MESSAGE_CHARS) {
    const source = sources.shift();
    if (source === undefined) break;
    const write = source.write(isWhole);
    records.push(write);
    chars += countCharacters(write) + RECORD_OVERHEAD_CHARS;
  }
  while (chars < MAX_MESSAGE_CHARS) {
    const capture = waitingCaptures.shift();
    if (capture === undefined) break;
    captures.push(capture);
    chars += capture.request_body.length + capture.response_body.length;
  }
  return { records, captures };
}

/** The parts of a platform that an outbox needs. */
export type OutboxPlatform = Pick<Platform, "archive" | "usage" | "outcomes" | "configuration" | "now">;

/** The outbox of this isolate. */
export const getOutbox = oncePer(
  (platform: OutboxPlatform) =>
    new Outbox({
      archive: platform.archive,
      usage: platform.usage,
      outcomes: platform.outcomes,
      configuration: platform.configuration,
      now: platform.now,
      sleep: (milliseconds) => sleep(milliseconds),
    }),
);
