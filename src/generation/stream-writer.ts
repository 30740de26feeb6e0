import { byteChannel, HAS_NATIVE_CHANNEL } from "../http/byte-channel.ts";

/** Bytes that are written at once: what a slow reader takes of a long text shows piece by piece. */
const PIECE_BYTES = 16 * 1024;

/**
 * A stream is written to so often at most, milliseconds: what comes sooner leaves with what comes until then. Nobody reads faster, and
 * a write costs as much as all else that is done for a chunk.
 */
const GATHER_MS = 5;

/** Text that surely fits into so many bytes is encoded into a buffer that the stream keeps. */
const KEPT_BYTES = 2 * 1024;
/** Bytes that a character takes at most (UTF-16 to UTF-8). */
const MOST_BYTES = 3;

/** Who is told of what the reader of a stream does. */
export interface ReaderWatch {
  /** It has taken so many bytes. */
  took(bytes: number): void;
  /** A write shows that it has left. */
  gone(): void;
}

/**
 * The caller's end of a stream. Headers are held back until the first byte, so that an early failure is an HTTP
 * status; then silence is filled with keep-alives, which is also how a client is noticed that has closed its connection
 * in order: only a failed write shows that (a reset shows at once, on the request's signal).
 */
export class StreamWriter {
  readonly #encoder = new TextEncoder();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #readable: ReadableStream<Uint8Array>;
  readonly #keepAliveMs: number;
  readonly #reader: ReaderWatch;
  readonly #head = Promise.withResolvers<ReadableStream<Uint8Array>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastWrite = 0;
  #giveUp: (reason: unknown) => void = () => undefined;
  #pending = 0;
  /** What waits to leave together, and until when. */
  #held = "";
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** What was gathered, on its way. */
  #leaving: Promise<void> | undefined;
  #kept: Uint8Array | null = null;
  committed = false;

  constructor(keepAliveMs: number, reader: ReaderWatch) {
    const { readable, writable } = byteChannel();
    this.#readable = readable;
    this.#writer = writable.getWriter();
    this.#keepAliveMs = keepAliveMs;
    this.#reader = reader;
  }

  /** The body, once its first byte is on its way; rejects when the generation fails before. */
  get ready(): Promise<ReadableStream<Uint8Array>> {
    return this.#head.promise;
  }

  /**
   * From now on silence is filled with `keepAlive`. The first one commits the headers: from then on a failure is the
   * dialect's error event.
   */
  beat(keepAlive: string): void {
    this.stop();
    this.#lastWrite = Date.now();
    const tick = () => {
      const due = this.#lastWrite + this.#keepAliveMs - Date.now();
      if (due <= 0 && this.#pending === 0) this.#send(keepAlive).catch(() => undefined);
      this.#timer = setTimeout(tick, due > 0 ? due : this.#keepAliveMs);
    };
    this.#timer = setTimeout(tick, this.#keepAliveMs);
  }

  /**
   * Writes text, at once or within {@link GATHER_MS}. A returned promise is the back-pressure, and rejects when the client has
   * left. `isLast`: nothing else is to come soon.
   */
  write(text: string, isLast = false): Promise<void> | undefined {
    this.#held += text;
    if (this.#held === "") return undefined;
    const left = this.#lastWrite + GATHER_MS - Date.now();
    if (!this.committed || isLast || this.#held.length >= PIECE_BYTES) return this.#sendHeld();
    if (this.#leaving !== undefined) return this.#leaving;
    if (left <= 0) return this.#sendHeld();
    this.#gathering ??= setTimeout(() => this.#leave(), Math.min(left, GATHER_MS));
    return undefined;
  }

  /** What was gathered leaves. Nobody waits for it but whoever writes next, and what that is follows when it is through. */
  #leave(): void {
    this.#leaving = this.#sendHeld();
    this.#leaving.then(
      () => {
        this.#leaving = undefined;
        if (this.#held !== "") this.#leave();
      },
      () => undefined,
    );
  }

  #sendHeld(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const text = this.#held;
    this.#held = "";
    return this.#send(text);
  }

  #send(text: string): Promise<void> {
    this.#lastWrite = Date.now();
    if (!this.committed) {
      this.committed = true;
      this.#head.resolve(this.#readable);
    }
    const bytes = this.#encoded(text);
    this.#pending += 1;
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      const failed = (error: unknown) => {
        this.#pending -= 1;
        this.#reader.gone();
        reject(error);
      };
      // All pieces wait in their order from now on: what is written next comes behind them.
      let at = 0;
      for (; at + PIECE_BYTES < bytes.length; at += PIECE_BYTES) {
        this.#writer.write(bytes.subarray(at, at + PIECE_BYTES)).then(
          () => this.#reader.took(PIECE_BYTES),
          () => undefined,
        );
      }
      this.#writer.write(at === 0 ? bytes : bytes.subarray(at)).then(() => {
        this.#reader.took(bytes.length - at);
        this.#pending -= 1;
        resolve();
      }, failed);
    });
  }

  /**
   * Memory of its own for the bytes of each chunk is a twentieth of what a stream costs. What the byte channel says is through has
   * been copied; a `TransformStream` hands on the very bytes that it was given.
   */
  #encoded(text: string): Uint8Array {
    if (!HAS_NATIVE_CHANNEL || this.#pending > 0 || text.length * MOST_BYTES > KEPT_BYTES) {
      return this.#encoder.encode(text);
    }
    this.#kept ??= new Uint8Array(KEPT_BYTES);
    return this.#kept.subarray(0, this.#encoder.encodeInto(text, this.#kept).written);
  }

  /** Waits no longer for a reader that may never take what was written: a write under way rejects with `reason`. */
  abandon(reason: unknown): void {
    this.#giveUp(reason);
  }

  /** The generation failed before the first byte: {@link ready} rejects with `error`. */
  refuse(error: unknown): void {
    this.#head.reject(error);
  }

  /** Writes the last text and closes; a client that has left is none of our business any more. */
  async end(text: string): Promise<void> {
    try {
      await this.write(text, true);
      await this.close();
    } catch {
      await this.#writer.abort().catch(() => undefined);
    }
  }

  /** Closes the stream. An answer without a single byte is still an answer. */
  async close(): Promise<void> {
    this.write("", true)?.catch(() => undefined);
    if (!this.committed) {
      this.committed = true;
      this.#head.resolve(this.#readable);
    }
    await this.#writer.close().catch(() => undefined);
  }

  /** Stops the keep-alives. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
