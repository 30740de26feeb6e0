import { concatBytes } from "../../core/encoding/bytes.ts";
import { byteChannel, HAS_NATIVE_CHANNEL } from "../../core/http/byte-channel.ts";

/** Largest single write, in bytes. Small writes make a slow reader's progress on a long text visible. */
const PIECE_BYTES = 16 * 1024;

/**
 * Shortest time between two writes to a stream, milliseconds. Text that arrives earlier is batched. A reader does not
 * notice the delay, and a write costs as much as all other work for a chunk.
 */
const BATCH_MS = 5;

/** Size of the reusable encoding buffer, bytes. It is used for text that surely fits. */
const ENCODE_BUFFER_BYTES = 2 * 1024;
/** Most bytes per character (UTF-16 to UTF-8). */
const MAX_BYTES_PER_CHARACTER = 3;

/** Receives notifications about the reader of a stream. */
interface ReaderListener {
  /** The reader has taken `bytes` bytes. */
  onRead(bytes: number): void;
  /** A failed write shows that the reader has left. */
  onDisconnect(): void;
}

/**
 * The caller's end of a stream. Headers are held back until the first byte, so that an early failure becomes an HTTP
 * status. After that, keep-alives fill silence. They also detect a client that has closed its connection gracefully: only a
 * failed write shows that (a reset shows at once, on the request's signal).
 */
export class StreamWriter {
  readonly #encoder = new TextEncoder();
  readonly #writable: WritableStream<Uint8Array>;
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #readable: ReadableStream<Uint8Array>;
  readonly #keepAliveMs: number;
  readonly #reader: ReaderListener;
  readonly #committed = Promise.withResolvers<ReadableStream<Uint8Array>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastWrite = 0;
  #rejectPending: (reason: unknown) => void = () => undefined;
  #pendingWrites = 0;
  /** Text that waits for the next batched write. */
  #pendingText = "";
  /** Bytes that wait for the next batched write, before the text. */
  #pendingBytes: Uint8Array[] = [];
  #pendingByteCount = 0;
  #batchTimer: ReturnType<typeof setTimeout> | undefined;
  /** The batched write that is in progress. */
  #batchWrite: Promise<void> | undefined;
  #encodeBuffer: Uint8Array | null = null;
  /** The bytes that the reader gets without JavaScript. Nothing is written meanwhile. */
  #piped: Promise<void> | undefined;
  /** The response has begun: its headers can no longer change. */
  isCommitted = false;

  constructor(keepAliveMs: number, reader: ReaderListener) {
    const { readable, writable } = byteChannel();
    this.#readable = readable;
    this.#writable = writable;
    this.#writer = writable.getWriter();
    this.#keepAliveMs = keepAliveMs;
    this.#reader = reader;
  }

  /** Resolves with the body once its first byte is written. Rejects when the generation fails before that. */
  get ready(): Promise<ReadableStream<Uint8Array>> {
    return this.#committed.promise;
  }

  /** Begins the response before its first byte is there, and returns its body. */
  begin(): ReadableStream<Uint8Array> {
    if (!this.isCommitted) {
      this.isCommitted = true;
      this.#committed.resolve(this.#readable);
    }
    return this.#readable;
  }

  /**
   * Starts to fill silence with `keepAlive`. The first write commits the headers: after that, a failure is the dialect's
   * error event.
   */
  startKeepAlives(keepAlive: string): void {
    this.stopKeepAlives();
    this.#lastWrite = Date.now();
    const tick = () => {
      const dueMs = this.#lastWrite + this.#keepAliveMs - Date.now();
      if (dueMs <= 0 && this.#pendingWrites === 0) this.#send(this.#encode(keepAlive)).catch(() => undefined);
      this.#timer = setTimeout(tick, dueMs > 0 ? dueMs : this.#keepAliveMs);
    };
    this.#timer = setTimeout(tick, this.#keepAliveMs);
  }

  /**
   * Writes text at once or within {@link BATCH_MS}. A returned promise is the backpressure; it rejects when the client has
   * left. `isLast`: no more text is expected soon.
   */
  write(text: string, isLast = false): Promise<void> | undefined {
    this.#pendingText += text;
    return this.#scheduleWrite(isLast);
  }

  /** The same for bytes. They must not change afterwards. */
  writeBytes(bytes: Uint8Array, isLast = false): Promise<void> | undefined {
    if (this.#pendingText !== "") this.#pushBytes(this.#encoder.encode(this.#pendingText));
    this.#pendingText = "";
    if (bytes.length > 0) this.#pushBytes(bytes);
    return this.#scheduleWrite(isLast);
  }

  #pushBytes(bytes: Uint8Array): void {
    this.#pendingBytes.push(bytes);
    this.#pendingByteCount += bytes.length;
  }

  get #pendingLength(): number {
    return this.#pendingText.length + this.#pendingByteCount;
  }

  #scheduleWrite(isLast: boolean): Promise<void> | undefined {
    if (this.#pendingLength === 0) return undefined;
    const remainingMs = this.#lastWrite + BATCH_MS - Date.now();
    if (!this.isCommitted || isLast || this.#pendingLength >= PIECE_BYTES) return this.#sendPending();
    if (this.#batchWrite !== undefined) return this.#batchWrite;
    if (remainingMs <= 0) return this.#sendPending();
    this.#batchTimer ??= setTimeout(() => this.#writeBatch(), Math.min(remainingMs, BATCH_MS));
    return undefined;
  }

  /**
   * Writes the batched text. Only the next call of `write` waits for it. Text that arrives meanwhile is written afterwards.
   */
  #writeBatch(): void {
    this.#batchWrite = this.#sendPending();
    this.#batchWrite.then(
      () => {
        this.#batchWrite = undefined;
        if (this.#pendingLength > 0) this.#writeBatch();
      },
      () => undefined,
    );
  }

  #sendPending(): Promise<void> {
    clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    const text = this.#pendingText;
    this.#pendingText = "";
    if (this.#pendingByteCount === 0) return this.#send(this.#encode(text));
    if (text !== "") this.#pushBytes(this.#encoder.encode(text));
    const chunks = this.#pendingBytes;
    this.#pendingBytes = [];
    this.#pendingByteCount = 0;
    const [only] = chunks;
    return this.#send(only !== undefined && chunks.length === 1 ? only : concatBytes(chunks));
  }

  #send(bytes: Uint8Array): Promise<void> {
    this.#lastWrite = Date.now();
    this.begin();
    this.#pendingWrites += 1;
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject;
      const onFailed = (error: unknown) => {
        this.#pendingWrites -= 1;
        this.#reader.onDisconnect();
        reject(error);
      };
      // All pieces are queued in order now. Later text comes after them.
      let index = 0;
      for (; index + PIECE_BYTES < bytes.length; index += PIECE_BYTES) {
        this.#writer.write(bytes.subarray(index, index + PIECE_BYTES)).then(
          () => this.#reader.onRead(PIECE_BYTES),
          () => undefined,
        );
      }
      this.#writer.write(index === 0 ? bytes : bytes.subarray(index)).then(() => {
        this.#reader.onRead(bytes.length - index);
        this.#pendingWrites -= 1;
        resolve();
      }, onFailed);
    });
  }

  /**
   * A new buffer per chunk would be a twentieth of a stream's cost. The native byte channel has copied a chunk when its
   * write resolves, so the buffer can be reused. A `TransformStream` forwards the same bytes, so it gets new buffers.
   */
  #encode(text: string): Uint8Array {
    if (
      !HAS_NATIVE_CHANNEL ||
      this.#pendingWrites > 0 ||
      text.length * MAX_BYTES_PER_CHARACTER > ENCODE_BUFFER_BYTES
    ) {
      return this.#encoder.encode(text);
    }
    this.#encodeBuffer ??= new Uint8Array(ENCODE_BUFFER_BYTES);
    return this.#encodeBuffer.subarray(0, this.#encoder.encodeInto(text, this.#encodeBuffer).written);
  }

  /** Stops waiting for a reader that may never read: a pending write rejects with `reason`. */
  rejectPendingWrite(reason: unknown): void {
    this.#rejectPending(reason);
  }

  /** Reports a failure before the first byte: {@link ready} rejects with `error`. */
  failBeforeStart(error: unknown): void {
    this.#committed.reject(error);
  }

  /**
   * Has the reader get `body` without JavaScript. Silence has no keep-alives from then on. Resolves when the body has
   * ended or broken, or when the client has left. Only {@link end}, {@link close} and {@link break} may follow.
   */
  pipe(body: ReadableStream<Uint8Array>): Promise<void> {
    this.stopKeepAlives();
    this.#piped = this.#pipe(body);
    return this.#piped;
  }

  async #pipe(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      await this.#flush();
    } catch {
      await body.cancel().catch(() => undefined);
      return;
    }
    this.#writer.releaseLock();
    await body.pipeTo(this.#writable, { preventClose: true, preventAbort: true }).catch(() => undefined);
    this.#writer = this.#writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    // An errored stream: its reader has left.
    if (this.#writer.desiredSize === null) this.#reader.onDisconnect();
  }

  /** Writes the last text and closes the stream. It ignores a client that has left. */
  async end(text: string): Promise<void> {
    try {
      await this.#piped;
      await this.write(text, true);
      await this.close();
    } catch {
      await this.#writer.abort().catch(() => undefined);
    }
  }

  /** Closes the stream. An answer without a single byte is still a response. */
  async close(): Promise<void> {
    await this.#piped;
    this.write("", true)?.catch(() => undefined);
    this.begin();
    await this.#writer.close().catch(() => undefined);
  }

  /** Waits until the reader has taken all batched text. Rejects when the client has left. */
  async #flush(): Promise<void> {
    while (this.#batchWrite !== undefined || this.#pendingLength > 0) {
      await this.#batchWrite;
      await this.write("", true);
    }
  }

  /**
   * Breaks the connection: the caller must not take the answer as complete. `now`: without what was not sent yet,
   * because the reader may never take it.
   */
  async break(reason: unknown, now: boolean): Promise<void> {
    if (!now) await this.#flush().catch(() => undefined);
    await this.#writer.abort(reason).catch(() => undefined);
  }

  /** Stops the keep-alives. */
  stopKeepAlives(): void {
    clearTimeout(this.#timer);
  }
}
