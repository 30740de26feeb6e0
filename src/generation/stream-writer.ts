import { byteChannel, HAS_NATIVE_CHANNEL } from "../http/byte-channel.ts";

/** Largest single write, in bytes. Small writes make a slow reader's progress on a long text visible. */
const PIECE_BYTES = 16 * 1024;

/**
 * Shortest time between two writes to a stream, milliseconds. Text that arrives earlier is batched. A reader does not
 * notice the delay, and a write costs as much as all other work for a chunk.
 */
const GATHER_MS = 5;

/** Size of the reusable encoding buffer, bytes. It is used for text that surely fits. */
const KEPT_BYTES = 2 * 1024;
/** Most bytes per character (UTF-16 to UTF-8). */
const MOST_BYTES = 3;

/** Receives notifications about the reader of a stream. */
export interface ReaderWatch {
  /** The reader has taken `bytes` bytes. */
  took(bytes: number): void;
  /** A failed write shows that the reader has left. */
  gone(): void;
}

/**
 * The caller's end of a stream. Headers are held back until the first byte, so that an early failure becomes an HTTP
 * status. After that, keep-alives fill silence. They also detect a client that has closed its connection gracefully: only a
 * failed write shows that (a reset shows at once, on the request's signal).
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
  /** Text that waits for the next batched write. */
  #held = "";
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** The batched write that is in progress. */
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

  /** Resolves with the body once its first byte is written. Rejects when the generation fails before that. */
  get ready(): Promise<ReadableStream<Uint8Array>> {
    return this.#head.promise;
  }

  /**
   * Starts to fill silence with `keepAlive`. The first write commits the headers: after that, a failure is the dialect's
   * error event.
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
   * Writes text at once or within {@link GATHER_MS}. A returned promise is the backpressure; it rejects when the client has
   * left. `isLast`: no more text is expected soon.
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

  /**
   * Writes the batched text. Only the next call of `write` waits for it. Text that arrives meanwhile is written afterwards.
   */
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
      // All pieces are queued in order now. Later text comes after them.
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
   * A new buffer per chunk would be a twentieth of a stream's cost. The native byte channel has copied a chunk when its
   * write resolves, so the buffer can be reused. A `TransformStream` forwards the same bytes, so it gets new buffers.
   */
  #encoded(text: string): Uint8Array {
    if (!HAS_NATIVE_CHANNEL || this.#pending > 0 || text.length * MOST_BYTES > KEPT_BYTES) {
      return this.#encoder.encode(text);
    }
    this.#kept ??= new Uint8Array(KEPT_BYTES);
    return this.#kept.subarray(0, this.#encoder.encodeInto(text, this.#kept).written);
  }

  /** Stops waiting for a reader that may never read: a pending write rejects with `reason`. */
  abandon(reason: unknown): void {
    this.#giveUp(reason);
  }

  /** Reports a failure before the first byte: {@link ready} rejects with `error`. */
  refuse(error: unknown): void {
    this.#head.reject(error);
  }

  /** Writes the last text and closes the stream. It ignores a client that has left. */
  async end(text: string): Promise<void> {
    try {
      await this.write(text, true);
      await this.close();
    } catch {
      await this.#writer.abort().catch(() => undefined);
    }
  }

  /** Closes the stream. An answer without a single byte is still a response. */
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
