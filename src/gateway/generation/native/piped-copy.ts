import { withTimeout } from "../../../core/ports/clock.ts";
import type { BodyConsumer } from "../provider-body.ts";
import type { StallDetector } from "../stall-detector.ts";

/** The most bytes of one read. */
const READ_BYTES = 16 * 1024;
/** How long the copy waits for more bytes before its first read, and before each later one, milliseconds. */
const FIRST_WAIT_MS = 500;
const WAIT_MS = 1_000;
/** Share of the shortest time limit that may pass between two reads. */
const LIMIT_SHARE = 4;
/** The most bytes that the first read of a poll takes. */
const MAX_FIRST_BYTES = 1024 * 1024;
/**
 * Limits of what follows the first read of a poll. A copy that is read pulls bytes from the provider, also for a caller who
 * takes none: so a caller who has stopped does not hold the account for longer than a normal answer takes, and an endless
 * answer is held back.
 */
const MAX_MORE_READS = 32;
const MAX_MORE_BYTES = 64 * 1024;
/** A read that takes this long, milliseconds, found nothing and had to wait for the provider. */
const WAITED_MS = 2;

interface PipedCopyOptions {
  readonly now: () => number;
  readonly stallDetector: StallDetector;
  /** The shortest time limit of the answer, milliseconds. */
  readonly shortestLimitMs: number;
  /** How long the caller may take nothing, milliseconds. */
  readonly readerLimitMs: number;
  /** Resolves when the other branch has ended. */
  readonly piped: Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * The copy of an answer whose other branch goes to the caller without JavaScript. The runtime keeps unread bytes, so
 * the copy is polled about once a second, and read to its end when the other branch has ended.
 */
export class PipedCopy {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #options: PipedCopyOptions;
  readonly #waitMs: number;
  #hasPipeEnded = false;
  #hasEnded = false;
  /** Counted since the caller last took bytes: the polls in which it took none, and those that do not tell. */
  #stalledPolls = 0;
  #unclearPolls = 0;
  #stalledSince = 0;
  #buffer: ArrayBuffer | undefined;

  constructor(body: ReadableStream<Uint8Array>, options: PipedCopyOptions) {
    this.#reader = body.getReader({ mode: "byob" });
    this.#options = options;
    this.#waitMs = Math.min(WAIT_MS, options.shortestLimitMs / LIMIT_SHARE);
  }

  /**
   * Reads the copy. The consumer must not keep the bytes.
   *
   * @returns whether the answer has ended. False: the consumer needs no more
   * @throws the failure of the connection, after all bytes before it
   */
  async read(consumer: BodyConsumer): Promise<boolean> {
    const { piped, signal } = this.#options;
    const wake = Promise.withResolvers<void>();
    const onEnd = () => {
      this.#hasPipeEnded = true;
      wake.resolve();
    };
    piped.then(onEnd, onEnd);
    signal.addEventListener("abort", onEnd, { once: true });
    if (signal.aborted) onEnd();
    try {
      for (let waitMs = Math.min(FIRST_WAIT_MS, this.#waitMs); ; waitMs = this.#waitMs) {
        await this.#wait(waitMs, wake.promise);
        const end = await this.#poll(consumer);
        if (end !== null) return end;
      }
    } finally {
      signal.removeEventListener("abort", onEnd);
    }
  }

  /** Reads to the end without looking at the bytes. Returns whether the end came in time. */
  async endsWithin(milliseconds: number): Promise<boolean> {
    if (this.#hasEnded) return true;
    const end = this.#drain().then(
      () => true,
      () => true,
    );
    return (await withTimeout(end, milliseconds)) ?? false;
  }

  /** The buffer of the next read. A read takes it away and gives it back with its bytes. */
  #takeBuffer(): Uint8Array<ArrayBuffer> {
    const buffer = this.#buffer ?? new ArrayBuffer(READ_BYTES);
    this.#buffer = undefined;
    return new Uint8Array(buffer);
  }

  async #drain(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read(this.#takeBuffer());
      if (done) return;
      this.#buffer = value.buffer;
    }
  }

  async #wait(milliseconds: number, woken: Promise<void>): Promise<void> {
    if (this.#hasPipeEnded) return;
    await withTimeout(woken, milliseconds);
  }

  /** Reads until no more bytes have arrived. Null: the answer continues. */
  async #poll(consumer: BodyConsumer): Promise<boolean | null> {
    const { now, stallDetector } = this.#options;
    const poll = { first: 0, more: 0, largest: 0 };
    let isFirst = true;
    for (let reads = 0; ; reads += 1) {
      const before = now();
      const { done, value } = await this.#reader.read(this.#takeBuffer());
      const readAt = stallDetector.recordData();
      if (done) {
        this.#hasEnded = true;
        return true;
      }
      this.#buffer = value.buffer;
      const { length } = value;
      // Nothing is written here, so there is nothing to wait for.
      void consumer.take(value, readAt);
      if (consumer.isOver?.() === true) return false;
      if (this.#hasPipeEnded) continue;
      if (isFirst) poll.first += length;
      else {
        poll.more += length;
        poll.largest = Math.max(poll.largest, length);
      }
      // A buffer that is filled belongs to a longer first read.
      isFirst &&= length === READ_BYTES && poll.first < MAX_FIRST_BYTES;
      if (isFirst) continue;
      const isLimitReached = reads >= MAX_MORE_READS || poll.more >= MAX_MORE_BYTES;
      if (!isLimitReached && now() - before < WAITED_MS) continue;
      this.#judgeReader(isLimitReached, poll);
      return null;
    }
  }

  /**
   * Judges from one poll whether the caller takes bytes. If it does, the first read finds nearly all bytes of the poll.
   * If it does not, only the reads of this copy pull bytes: the first one finds little, and the next ones reach their
   * limit.
   */
  #judgeReader(isLimitReached: boolean, poll: { first: number; more: number; largest: number }): void {
    const { now, stallDetector, readerLimitMs } = this.#options;
    if (poll.first > 2 * poll.largest) {
      this.#stalledPolls = 0;
      this.#unclearPolls = 0;
      return;
    }
    if (!isLimitReached || poll.first > poll.more) {
      this.#unclearPolls += 1;
      return;
    }
    if (this.#stalledPolls === 0) this.#stalledSince = now();
    this.#stalledPolls += 1;
    if (this.#stalledPolls > this.#unclearPolls && now() - this.#stalledSince > readerLimitMs)
      stallDetector.reportStalledReader();
  }
}
