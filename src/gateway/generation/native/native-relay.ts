import type { GenerationEvent } from "../../../core/conversation/events.ts";
import { maskSecrets } from "../../../core/encoding/secret-masking.ts";
import { ProviderError, type ProviderErrorKind } from "../../../core/errors/provider-error.ts";
import { sleep } from "../../../core/ports/clock.ts";
import { containsConfiguredSecret } from "../../captures/capture-masking.ts";
import type { StreamedTurn, TurnDecoder } from "../../providers/answers/upstream-turn.ts";
import type { RegisteredProvider } from "../../providers/provider-registry.ts";
import { chargeBytes } from "../answer-memory.ts";
import type { Assembler } from "../assembly/assembler.ts";
import type { GenerationJob } from "../generation-job.ts";
import type { StreamSink } from "../generation-sink.ts";
import { type BodyConsumer, END_WITHIN_MS, readBody, readToEnd } from "../provider-body.ts";
import type { StallDetector } from "../stall-detector.ts";
import { withoutEndMark } from "./chat-chunks.ts";
import { NativeStream } from "./native-stream.ts";
import type { NativeJob } from "./native-style.ts";
import { PipedCopy } from "./piped-copy.ts";

const NO_BYTES = new Uint8Array();

/** Runtimes join writes that follow each other sooner, milliseconds. */
const SEPARATE_WRITE_MS = 20;

/** Failures that a provider states itself and that are not about its account. */
const STATED_ERRORS: ReadonlySet<ProviderErrorKind> = new Set([
  ...(["not_found", "too_large", "model_unavailable", "invalid_request", "context_length"] as const),
  ...(["content_filter", "server_error", "cut"] as const),
]);

/** Providers whose error events have contained a credential. Their streams are never piped. */
const leakingProviders = new Set<string>();

/** What a relay needs of its generation. */
interface RelayOptions {
  readonly job: GenerationJob;
  readonly native: NativeJob;
  readonly sink: StreamSink;
  readonly provider: RegisteredProvider;
  /** The token of the account. */
  readonly token: string;
  readonly assembler: Assembler;
  readonly stallDetector: StallDetector;
  /** The attempt, which is aborted when its account fails or the client leaves. */
  readonly attempt: AbortController;
  /** Whether the caller has got a part of the answer that no other answer can follow. */
  readonly hasVisibleOutput: () => boolean;
  /** Reports that the provider has sent something. */
  readonly reportData: () => void;
  /** Reports that the provider has sent content. */
  readonly reportContent: () => void;
  /** Sends bytes with their events. The relay waits for a returned promise. */
  readonly deliver: (events: GenerationEvent[], bytes: Uint8Array) => Promise<void> | undefined;
}

/**
 * Passes a provider's native stream to the caller, and reads the events in it. If the provider's settings allow it, the
 * runtime passes the bytes on by itself once nothing in them has to be changed, and only a copy is read.
 */
export class NativeRelay {
  readonly #options: RelayOptions;
  readonly #stream: NativeStream;
  /** Events whose bytes are held until the answer has content. */
  #heldEvents: GenerationEvent[] = [];
  /** The bytes have reached the caller already; the rest are read from a copy. */
  #isPiped = false;
  #contentEvents = 0;
  #lastRead: Uint8Array = NO_BYTES;
  /** How many bytes the caller has got without JavaScript. */
  pipedBytes = 0;
  /** Whether the caller has got the provider's own error event. */
  hasSentError = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { job, native, sink } = options;
    const { modelPaths, namesModelOnce = false, echoedModel } = native.style;
    this.#stream = new NativeStream({
      modelPaths,
      namesModelOnce,
      model: echoedModel(job.conversation.model),
      hidesUsageEvent: native.hidesUsageEvent === true,
      continued: sink.nativeStream ?? null,
      charge: (bytes) => chargeBytes(job, bytes),
    });
  }

  /** Whether the caller has got the beginning of an event whose end never came. */
  get hasSentFragment(): boolean {
    return this.#isPiped && this.#stream.hasUnfinishedEvent;
  }

  /** Reads one upstream body to its end. */
  async read(turn: StreamedTurn): Promise<void> {
    const { attempt, sink, provider } = this.#options;
    const canPipe = provider.pipeStreams && sink.pipe !== undefined && isByteStream(turn.body);
    const pipe = canPipe ? (sink.pipe?.bind(sink) ?? null) : null;
    try {
      if (await this.#readThrough(turn, pipe !== null)) return;
      if (pipe !== null) await this.#readPiped(turn, pipe);
    } catch (error) {
      if (!attempt.signal.aborted && !this.#isPiped) await this.#deliverError(error);
      throw error;
    }
  }

  /** Adds events that follow the last bytes. */
  hold(events: readonly GenerationEvent[]): void {
    this.#heldEvents.push(...events);
  }

  /** The rest of the stream with its events. */
  finish(): { readonly events: GenerationEvent[]; readonly bytes: Uint8Array } {
    const events = this.#heldEvents;
    this.#heldEvents = [];
    return { events, bytes: this.#isPiped ? NO_BYTES : this.#stream.finish() };
  }

  /** Passes the bytes on itself. Returns false when the rest of the body can be piped. */
  async #readThrough({ decoder, body }: StreamedTurn, canPipe: boolean): Promise<boolean> {
    const { attempt, stallDetector, job } = this.#options;
    const stream = this.#stream;
    const { signal } = attempt;
    const consumer: BodyConsumer = {
      take: (bytes, now) => {
        this.#lastRead = bytes;
        this.#options.reportData();
        const events = decoder.push(bytes);
        const isFailure = decoder.failure != null;
        // The bytes of a failure and of the end follow when the generation knows the outcome.
        const isHeld = isFailure || decoder.ended === true;
        const leaving = isHeld ? NO_BYTES : stream.push(bytes, (decoder.contentEvents ?? 0) > 0);
        this.#countContent(decoder);
        if (isHeld && !isFailure) stream.hold(bytes);
        this.#options.assembler.push(events, this.#heldEvents);
        const delivery = leaving.length === 0 ? undefined : this.#deliverHeld(leaving);
        job.recording?.refreshIfDue(now);
        return delivery;
      },
      isOver: () => {
        if (decoder.failure != null) throw decoder.failure;
        return decoder.ended === true || (canPipe && this.#isPipeable());
      },
    };
    const hasEnded = await readBody(body, { signal, stallDetector }, consumer);
    if (hasEnded) this.#options.assembler.push(decoder.finish(), this.#heldEvents);
    else if (decoder.ended === true) {
      stream.dropFragment();
      readToEnd(body);
    }
    return hasEnded || decoder.ended === true;
  }

  #isPipeable(): boolean {
    const { provider, job, assembler, native } = this.#options;
    return (
      this.#stream.needsNoEdit &&
      native.style.keepsChunks !== true &&
      // Otherwise the generation may refuse the end of the answer, or continue it with another provider.
      job.conversation.toolChoice.type !== "required" &&
      (assembler.hasVisibleOutput || !native.style.canContinueStream) &&
      !leakingProviders.has(provider.id)
    );
  }

  /** Has the runtime pass the rest of the body on, and reads a copy. */
  async #readPiped({ body, decoder }: StreamedTurn, pipe: NonNullable<StreamSink["pipe"]>): Promise<void> {
    const { attempt, stallDetector, job, provider, assembler } = this.#options;
    const stream = this.#stream;
    const { platform } = job.context;
    const { signal } = attempt;
    const { idleTimeoutMs, answerTimeoutMs } = provider.timeouts;
    this.#isPiped = true;
    const [forCaller, forCopy] = body.tee();
    const copy = new PipedCopy(forCopy, {
      now: () => platform.now(),
      stallDetector,
      shortestLimitMs: Math.min(idleTimeoutMs, answerTimeoutMs),
      readerLimitMs: idleTimeoutMs,
      piped: pipe(forCaller),
      signal,
    });
    const consumer: BodyConsumer = {
      take: (bytes, now) => {
        this.pipedBytes += bytes.length;
        this.#lastRead = bytes;
        stream.observe(bytes);
        assembler.push(decoder.push(bytes), this.#heldEvents);
        this.#countContent(decoder);
        if (this.#heldEvents.length > 0) void this.#deliverHeld(NO_BYTES);
        job.recording?.refreshIfDue(now);
        return undefined;
      },
      isOver: () => {
        if (decoder.failure != null) throw decoder.failure;
        return decoder.ended === true;
      },
    };
    try {
      const hasEnded = await copy.read(consumer);
      if (hasEnded) assembler.push(decoder.finish(), this.#heldEvents);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure =
        error instanceof ProviderError
          ? error
          : new ProviderError("cut", "the provider's answer broke off", { cause: error });
      this.#recordSentError(failure);
      throw failure;
    } finally {
      // Providers close the body after the last event. One that does not is left.
      if (!(await copy.endsWithin(END_WITHIN_MS))) attempt.abort();
    }
  }

  #countContent({ contentEvents = 0 }: TurnDecoder): void {
    // Comments and pings are no content, however many come.
    if (contentEvents > this.#contentEvents) this.#options.reportContent();
    this.#contentEvents = contentEvents;
  }

  #deliverHeld(bytes: Uint8Array): Promise<void> | undefined {
    const events = this.#heldEvents;
    this.#heldEvents = [];
    if (bytes.length > 0) this.#options.sink.nativeStream = this.#stream;
    return this.#options.deliver(events, bytes);
  }

  /** Delivers the last read with the provider's own error event, unless it is about the account or contains its token. */
  async #deliverError(error: unknown): Promise<void> {
    const { hasVisibleOutput } = this.#options;
    const stream = this.#stream;
    if (!(error instanceof ProviderError) || !STATED_ERRORS.has(error.kind)) return;
    // After reasoning alone, another account or provider may still answer.
    if (!hasVisibleOutput()) return;
    const isErrorEvent = error.kind === "cut" || error.isErrorEvent;
    // After a finish reason that means a failure, the style's error event follows, so no end mark may come before it.
    const last = isErrorEvent ? this.#lastRead : withoutEndMark(this.#lastRead);
    const events = error.kind === "cut" ? NO_BYTES : stream.push(last, true);
    const appended = isErrorEvent ? stream.takeAppendedError() : null;
    // Google's SDK notices an error without `data:` only in a chunk of its own.
    const pieces = [events, appended ?? NO_BYTES].filter(({ length }) => length > 0);
    if (pieces.length === 0 || pieces.some((piece) => this.#containsSecret(piece))) return;
    this.hasSentError = isErrorEvent;
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(SEPARATE_WRITE_MS);
      await this.#options.deliver([], piece);
    }
  }

  /** Records whether the caller has got the provider's error event. */
  #recordSentError({ kind, isErrorEvent }: ProviderError): void {
    if (kind !== "cut" && !isErrorEvent) return;
    const { provider } = this.#options;
    const appended = this.#stream.takeAppendedError();
    const event = appended ?? (kind === "cut" ? null : this.#lastRead);
    if (event === null) return;
    this.hasSentError = true;
    if (this.#containsSecret(event)) leakingProviders.add(provider.id);
  }

  #containsSecret(bytes: Uint8Array): boolean {
    const { provider, token } = this.#options;
    const text = new TextDecoder().decode(bytes);
    return maskSecrets(text, [token]) !== text || containsConfiguredSecret(provider.headers, text);
  }
}

/** Whether the runtime itself provides a body: only such a body is passed on without JavaScript. */
function isByteStream(body: ReadableStream<Uint8Array>): boolean {
  try {
    body.getReader({ mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}
