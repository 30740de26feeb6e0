import type { ConfigSnapshot, ConfigurationStore } from "../config/snapshot.ts";
import type { AnswerStore, AnswerWrite } from "../platform/answers.ts";
import {
  type Archive,
  EndedRecordsLost,
  type HistoryWrite,
  type MetricDeltas,
  type Retention,
} from "../platform/archive.ts";
import type { Capture } from "../platform/captures.ts";
import type { Platform } from "../platform/platform.ts";
import type { UsageStore, UsedRequest } from "../platform/usage.ts";
import { UsageTally } from "../usage/tally.ts";
import { Counts } from "./counts.ts";

/** Between two messages of one isolate to the archive there is at least this pause, milliseconds. */
const PAUSE_MS = 500;
/** The same when there is nothing but counts to tell. */
const COUNTS_PAUSE_MS = 2_000;
/** So many requests wait for a message to be sent: one would do, unless it dies. */
const WAITERS = 4;
/** A message that has been under way for this long belongs to a request that died. */
const STUCK_MS = 5_000;
/** For how long a request tells again what was used when nobody hears it; a request that is over may do so for half a minute. */
const TELL_MS = 25_000;
/** Captures that may wait while the archive cannot be reached. */
const MAX_CAPTURES = 500;
/** Records that may wait; the oldest go first. */
const MAX_RECORDS = 5_000;
/**
 * Characters of records that may wait: the oldest keep no more than the beginnings of their texts then. What a generation
 * under way holds anyway is not counted.
 */
const MAX_RECORD_CHARS = 8 * 1024 * 1024;
/** What a record takes in a message beside its texts, in characters. */
const SUMMARY_CHARS = 1_000;
/** Characters of captures that may wait, so that they do not fill the isolate's memory. */
const MAX_CAPTURE_CHARS = 24 * 1024 * 1024;
/** Characters that one message carries. */
const MAX_MESSAGE_CHARS = 6 * 1024 * 1024;

/** A generation under way, as the archive is to be told of it. */
export interface RecordSource {
  /** Its present state. Texts that the archive knows already may be left out, unless it has ended and is wanted whole. */
  write(whole?: boolean): HistoryWrite;
  /** Characters that are held for the archive alone. */
  readonly characters: number;
  /** When its request came in, Unix milliseconds: the archive keeps the newest. */
  readonly createdAt: number;
  /** Whether the archive may have heard of it: then it is to hear how it ended. */
  readonly isTold: boolean;
  /** The generation's outcome is known. */
  readonly hasEnded: boolean;
  /** Keeps only the beginnings of its texts. How the generation ended is not lost. */
  shorten(): void;
  /** The archive has not received what `write` returned last. */
  lost(): void;
}

/** The retention that a configuration asks for. */
export function retentionOf({ version, config }: ConfigSnapshot): Retention {
  return { version, records: config.history.limit, captures: config.captures.limit };
}

/** What is needed to send. */
export interface OutboxOptions {
  readonly archive: Archive;
  readonly usage: Pick<UsageStore, "write">;
  /** Takes outcomes at once, where there is one. */
  readonly answers?: AnswerStore | undefined;
  /** Asked for the retention when a message is sent: what waits may be newer than the request that sends it. */
  readonly configuration: Pick<ConfigurationStore, "readCopy">;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Gathers what an isolate has to tell the archive, and sends it in few messages, behind the requests. A failure of
 * the archive is nobody's failure: what it did not take is sent again with the next message.
 *
 * Where the stores are in the same process (`AnswerStore`), a request's outcome does not wait for a message: `end` writes it.
 *
 * A timer lives only as long as the request that set it. So every request waits for its own news to be sent, and the
 * first whose wait is over sends for all. Once a few wait for the same message, the rest need not.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  /** What waits, with the characters that it held when it was told of. */
  #records = new Map<RecordSource, number>();
  /** Those of them that hold characters and were not shortened. */
  #long = new Set<RecordSource>();
  #recordChars = 0;
  #captures: Capture[] = [];
  #captureChars = 0;
  readonly counts = new Counts();
  readonly usage = new UsageTally();
  /** Number of the message that is being filled. */
  #open = 0;
  /** Requests that wait for that message. */
  #waiters = 0;
  #awaitedSince = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sending = false;
  /** The last message did not bring to the books what was used. */
  #untold = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** A generation has news. */
  record(source: RecordSource): void {
    this.#hold(source);
    for (const oldest of this.#long) {
      if (this.#recordChars <= MAX_RECORD_CHARS) break;
      oldest.shorten();
      this.#hold(oldest);
      this.#long.delete(oldest);
    }
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS) return;
      this.#drop(oldest);
    }
  }

  #drop(source: RecordSource): void {
    this.#recordChars -= this.#records.get(source) ?? 0;
    this.#records.delete(source);
    this.#long.delete(source);
  }

  /**
   * A request has ended, and its answer has not. Counts what it used, and writes its outcome at once where an `AnswerStore` takes it.
   *
   * @param used what the request used; null: nothing
   * @param snapshot the configuration as the request read it; null: it did not, and left nothing to write
   * @returns why that store did not take the outcome, which goes with the next message then; null: it did, or there is none
   */
  end(used: UsedRequest | null, snapshot: ConfigSnapshot | null): Error | null {
    const { answers, now } = this.#options;
    const endedAt = now();
    let note: number | undefined;
    let failure: Error | null = null;
    if (answers !== undefined && snapshot !== null) {
      try {
        note = this.#writeOutcome(answers, { retention: retentionOf(snapshot), used, endedAt });
      } catch (error) {
        failure = error instanceof Error ? error : new Error("not an error");
      }
    }
    if (used !== null) this.usage.count(used, endedAt, note);
    return failure;
  }

  /** Writes the records of all generations that have ended, which are those of this request, with what it used. Throws what the store throws. */
  #writeOutcome(answers: AnswerStore, outcome: Omit<AnswerWrite, "records">): number | undefined {
    const ended = [...this.#records.keys()].filter(({ hasEnded }) => hasEnded);
    if (ended.length === 0 && outcome.used === null) return undefined;
    try {
      const note = answers.write({ ...outcome, records: ended.map((source) => source.write()) });
      for (const source of ended) this.#drop(source);
      return note;
    } catch (error) {
      for (const source of ended) source.lost();
      throw error;
    }
  }

  #hold(source: RecordSource): void {
    const { characters } = source;
    this.#recordChars += characters - (this.#records.get(source) ?? 0);
    this.#records.set(source, characters);
    if (characters > 0) this.#long.add(source);
  }

  /** An exchange was captured. One that finds too much waiting is dropped. */
  capture(capture: Capture): void {
    const chars = capture.request_body.length + capture.response_body.length;
    if (this.#captures.length >= MAX_CAPTURES || this.#captureChars + chars > MAX_CAPTURE_CHARS) return;
    this.#captures.push(capture);
    this.#captureChars += chars;
  }

  /** Whether captures wait to be sent. */
  get holdsCaptures(): boolean {
    return this.#captures.length > 0;
  }

  /**
   * Resolves when what waits at this moment has been sent, by whomever; null: enough others see to it. Never rejects; to be
   * handed to `waitUntil`.
   */
  settled(): Promise<void> | null {
    const began = this.#options.now();
    if (this.#waiters === 0) this.#awaitedSince = began;
    if (this.#waiters >= WAITERS && began - this.#awaitedSince < STUCK_MS) return null;
    this.#waiters += 1;
    return this.#wait(began);
  }

  async #wait(from: number): Promise<void> {
    const { now, sleep } = this.#options;
    let began = from;
    let mine = this.#open;
    while (this.#open === mine && !this.#isEmpty()) {
      // A clock may be set back.
      began = Math.min(began, now());
      this.#sentAt = Math.min(this.#sentAt, now());
      const urgent = this.#records.size > 0 || this.#captures.length > 0;
      const due = Math.max(this.#sentAt, began) + (urgent ? PAUSE_MS : COUNTS_PAUSE_MS);
      const busy = this.#sending && now() - this.#sentAt < STUCK_MS;
      if (now() >= due && !busy) {
        await this.#send();
        if (!this.#untold || now() - from > TELL_MS) return;
        // Of news the next message may bring more; what was used must not wait for a request that never comes.
        mine = this.#open;
        this.#waiters += 1;
        began = now();
        continue;
      }
      await sleep(Math.max(Math.min(due - now(), PAUSE_MS), 20));
    }
  }

  #forgetRecords(): void {
    this.#records = new Map();
    this.#long = new Set();
    this.#recordChars = 0;
  }

  #isEmpty(): boolean {
    return this.#records.size === 0 && this.#captures.length === 0 && this.counts.empty && this.usage.empty;
  }

  async #send(): Promise<void> {
    const { archive, configuration, now } = this.#options;
    const { wantsWhole = false } = archive;
    this.#sending = true;
    this.#sentAt = now();
    this.#open += 1;
    this.#waiters = 0;
    let sources: readonly RecordSource[] = [];
    let captures: Capture[] = [];
    let metrics: MetricDeltas | null = null;
    this.#untold = !this.usage.empty;
    let telling: Promise<void> | undefined;
    let counted = false;
    let at = 0;
    let lost: EndedRecordsLost | null = null;
    try {
      const snapshot = await configuration.readCopy();
      // Taken no earlier: in the same process `end` finds a record here until the archive has it.
      sources = [...this.#records.keys()];
      captures = this.#captures;
      metrics = this.counts.take();
      this.#forgetRecords();
      this.#captures = [];
      this.#captureChars = 0;
      telling = this.#tell(snapshot);
      const retention = retentionOf(snapshot);
      const recording = worthTelling(sources, retention.records);
      do {
        const records: HistoryWrite[] = [];
        const batch: Capture[] = [];
        let chars = 0;
        for (; at < recording.length && chars < MAX_MESSAGE_CHARS; at += 1) {
          const write = recording[at]?.write(wantsWhole);
          if (write === undefined) continue;
          records.push(write);
          chars += charactersOf(write) + SUMMARY_CHARS;
        }
        while (captures.length > 0 && chars < MAX_MESSAGE_CHARS) {
          const capture = captures.shift();
          if (capture === undefined) break;
          batch.push(capture);
          chars += capture.request_body.length + capture.response_body.length;
        }
        try {
          const written = archive.write({
            retention,
            records,
            captures: batch,
            metrics: counted ? {} : metrics,
          });
          if (written !== undefined) await written;
        } catch (error) {
          if (!(error instanceof EndedRecordsLost)) throw error;
          lost = error;
        }
        counted = true;
      } while (at < recording.length || captures.length > 0);
      if (lost !== null) throw lost;
    } catch {
      for (const source of sources) source.lost();
      // What came meanwhile is newer.
      const newer = [...this.#records.keys()];
      this.#forgetRecords();
      for (const source of sources) this.record(source);
      for (const source of newer) this.record(source);
      for (const capture of captures) this.capture(capture);
      if (!counted && metrics !== null) this.counts.restore(metrics);
    } finally {
      await telling;
      this.#sending = false;
    }
  }

  /** Brings what was used to the books. Never throws: what was not heard is said again. */
  async #tell(snapshot: ConfigSnapshot): Promise<void> {
    if (this.usage.empty) return;
    const { usage, now } = this.#options;
    try {
      await this.usage.send(usage, snapshot, now());
      this.#untold = false;
    } catch {
      this.#untold = true;
    }
  }
}

/** Those that the archive is to hear of: others it would drop as soon as it had taken all. `kept` is how many it keeps; 0: it takes none. */
function worthTelling(sources: readonly RecordSource[], kept: number): readonly RecordSource[] {
  if (kept === 0) return [];
  const excess = sources.length - kept;
  if (excess <= 0) return sources;
  const byAge = sources.toSorted((one, other) => one.createdAt - other.createdAt);
  return byAge.filter(({ isTold }, index) => isTold || index >= excess);
}

/** Characters of a record's texts. */
export function charactersOf({ request, reasoning, content }: HistoryWrite): number {
  return (request?.messages.length ?? 0) + (request?.prompt.length ?? 0) + reasoning.length + content.length;
}

/** What of a platform an outbox needs. */
export type OutboxPlatform = Pick<Platform, "archive" | "usage" | "answers" | "configuration" | "now">;

const outboxes = new WeakMap<OutboxPlatform, Outbox>();

/** The outbox of this isolate. */
export function outboxOf(platform: OutboxPlatform): Outbox {
  let outbox = outboxes.get(platform);
  if (outbox === undefined) {
    outbox = new Outbox({
      archive: platform.archive,
      usage: platform.usage,
      answers: platform.answers,
      configuration: platform.configuration,
      now: platform.now,
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    });
    outboxes.set(platform, outbox);
  }
  return outbox;
}
