import { CompletionFold } from "../../core/conversation/completion-fold.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { Completion, GenerationEvent } from "../../core/conversation/events.ts";
import type { GatewayError } from "../../core/errors/gateway-error.ts";
import { HAS_NATIVE_CHANNEL } from "../../core/http/byte-channel.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";
import { EVENT_STREAM_HEADERS } from "../../core/http/event-stream.ts";
import { withTimeout } from "../../core/ports/clock.ts";
import { beginGeneration, createAnswerInfo } from "./begin-generation.ts";
import { finishWithError, finishWithSuccess } from "./end-generation.ts";
import { StreamedFormat } from "./format/streamed-format.ts";
import type { Generation } from "./generation.ts";
import {
  type AnswerInfo,
  explainFailure,
  type GenerationJob,
  type GenerationRequest,
} from "./generation-job.ts";
import type { StreamSink } from "./generation-sink.ts";
import { RouteRunner } from "./routes/route-runner.ts";
import { MIN_BYTES_PER_SECOND } from "./stall-detector.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Renders one generation's events as a dialect's stream. It does no I/O: it has state, takes events and returns text. */
export interface StreamRenderer {
  /** The keep-alive text in the dialect's own form. */
  readonly keepAlive: string;
  /** The text of one event; empty if the dialect has none. `error` gives the dialect's own error event. */
  push(event: GenerationEvent): string;
}

/** How a dialect streams an answer. */
export interface StreamAnswer {
  /** Media type of the stream when it is not an event stream. */
  readonly streamType?: string;
  stream(info: AnswerInfo): StreamRenderer;
  /**
   * Called after a successful generation, when everything is rendered but the last event is not sent yet: the place to
   * store what a later request will ask for.
   */
  completed?(completion: Completion, info: AnswerInfo): Promise<void>;
  /** The same for a native stream. `last` are its last bytes: whole events. */
  completedNative?(completion: Completion, last: Uint8Array): Promise<void>;
  /** Whether `completedNative` needs the last bytes. The caller may get them before it is called otherwise. */
  readonly needsNativeEnd?: boolean;
  /** Called when a started stream ends with an error. The error is rendered but not sent yet. */
  failed?(): Promise<void>;
}

/** The HTTP status of every started stream. */
const STREAM_STATUS = 200;

/** Whether the caller sees something of these events. */
function hasContent(events: readonly GenerationEvent[], { showReasoning }: Conversation): boolean {
  return events.some(({ type }) => type !== "start" && (type !== "reasoning" || showReasoning));
}

/** Removes `start`, which is the first event of a model. */
function withoutStart(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  return events[0]?.type === "start" ? events.slice(1) : events;
}

/** The sink behind the guardrails, if there are any. */
function guardSink(sink: StreamSink, generation: Generation): StreamSink {
  const guarded = generation.job.guard?.guardStream({
    deliver: (events) => sink.deliver(events),
    usage: () => generation.usageSoFar(),
  });
  return guarded ?? sink;
}

/**
 * Answers a conversation as a stream. All generation routes use this function or `generateCompletion`.
 *
 * @throws GatewayError before the first byte; after that, an error becomes the dialect's own error event
 */
export async function streamGeneration(request: GenerationRequest, answer: StreamAnswer): Promise<Response> {
  const job = await beginGeneration(request);
  const { context, deadline } = job;
  const runner = await RouteRunner.prepare(job).catch((thrown: unknown) => {
    deadline?.end();
    const error = explainFailure(job, thrown);
    finishWithError(job, error, null);
    throw error;
  });
  const stream = new AnswerStream(job, runner, answer);
  // When the client leaves, only work under `waitUntil` continues to its `finally`.
  const running = stream.run();
  context.waitUntil(running);
  const response = await stream.waitForResponse();
  // `handleRequest` keeps the request's memory until `running` has settled.
  context.keepUntil(running);
  return response;
}

/** One streamed answer: renders the events of the models that are tried, and ends the stream with an outcome or an error. */
class AnswerStream {
  readonly #job: GenerationJob;
  readonly #runner: RouteRunner;
  readonly #answer: StreamAnswer;
  readonly #fold = new CompletionFold();
  readonly #format: StreamedFormat;
  readonly #writer: StreamWriter;
  readonly #sink: StreamSink;
  /** The generation of the current model. */
  #generation: Generation;
  #info: AnswerInfo;
  #renderer: StreamRenderer;
  /** Whether the renderer has begun the answer. The models that follow then continue it. */
  #hasBegun = false;
  #hasSucceeded = false;

  constructor(job: GenerationJob, runner: RouteRunner, answer: StreamAnswer) {
    this.#job = job;
    this.#runner = runner;
    this.#answer = answer;
    this.#generation = runner.generation;
    this.#info = createAnswerInfo(this.#generation.job, () => this.#generation);
    this.#renderer = answer.stream(this.#info);
    this.#format = new StreamedFormat(job.conversation.responseFormat);
    this.#writer = new StreamWriter(job.context.platform.variables.keepAliveMs, {
      onRead: (bytes) => this.#generation.stallDetector.recordRead(bytes),
      onDisconnect: () => job.abort.abort(clientDisconnected()),
    });
    this.#sink = {
      delivery: "stream",
      ...(HAS_NATIVE_CHANNEL && answer.needsNativeEnd !== true
        ? { pipe: (body: ReadableStream<Uint8Array>) => this.#writer.pipe(body) }
        : {}),
      deliver: (events, bytes) => this.#deliver(events, bytes),
    };
  }

  /** Runs the generation and sends its events until the stream is closed. */
  async run(): Promise<void> {
    const { signal } = this.#job.abort;
    const { deadline } = this.#job;
    const writer = this.#writer;
    signal.addEventListener("abort", () => writer.rejectPendingWrite(signal.reason));
    // Keep-alives start while the request waits for an account: only a failed write shows a graceful close.
    writer.startKeepAlives(this.#renderer.keepAlive);
    try {
      await this.#runner.run(
        (generation) => {
          this.#setGeneration(generation);
          return generation.run(guardSink(this.#sink, generation));
        },
        // Reasoning is not visible output, as in failover between accounts.
        () => this.#generation.hasVisibleOutput,
      );
      // A reader that has stopped may never take the rest, and the request no longer holds any resources.
      await withTimeout(writer.close(), this.#idleTimeoutMs + this.#pipedReadingTimeMs);
    } catch (thrown) {
      await this.#endWithError(thrown);
    } finally {
      deadline?.end();
      writer.stopKeepAlives();
    }
  }

  /**
   * Waits for the first byte.
   *
   * @throws GatewayError a failure before the first byte, so that the caller gets an HTTP status
   */
  async waitForResponse(): Promise<Response> {
    const readable = await this.#writer.ready;
    const { streamType } = this.#answer;
    const headers = streamType === undefined ? EVENT_STREAM_HEADERS : { "content-type": streamType };
    return new Response(readable, { headers: { ...headers, ...this.#generation.nativeAnswer?.headers } });
  }

  get #idleTimeoutMs(): number {
    return this.#job.context.platform.variables.idleTimeoutMs;
  }

  /** The time in which the slowest accepted reader takes the piped bytes, milliseconds. */
  get #pipedReadingTimeMs(): number {
    return ((this.#generation.relay?.pipedBytes ?? 0) * 1000) / MIN_BYTES_PER_SECOND;
  }

  #setGeneration(generation: Generation): void {
    if (generation === this.#generation) return;
    this.#generation = generation;
    // Until the answer has begun, the renderer can still name the model that answers.
    if (this.#hasBegun) return;
    this.#info = createAnswerInfo(generation.job, () => this.#generation);
    this.#renderer = this.#answer.stream(this.#info);
  }

  #deliver(generated: readonly GenerationEvent[], native?: Uint8Array): Promise<void> | undefined {
    const { conversation, deadline } = this.#job;
    if (deadline !== undefined && hasContent(generated, conversation)) deadline.end();
    if (native !== undefined) return this.#deliverNative(generated, native);
    const events = this.#format.push(this.#hasBegun ? withoutStart(generated) : generated);
    this.#hasBegun = true;
    for (const event of events) this.#fold.push(event);
    const text = this.#render(events);
    if (events.at(-1)?.type !== "finish") return this.#writer.write(text);
    const send = () => {
      this.#recordSuccess();
      return this.#writer.write(text, true);
    };
    return this.#answer.completed?.(this.#fold.completion(), this.#info).then(send) ?? send();
  }

  /** Sends the provider's own bytes. The events are only counted. */
  #deliverNative(events: readonly GenerationEvent[], bytes: Uint8Array): Promise<void> | undefined {
    for (const event of events) this.#fold.push(event);
    if (events.at(-1)?.type !== "finish") return this.#writer.writeBytes(bytes);
    const send = () => {
      this.#recordSuccess();
      return this.#writer.writeBytes(bytes, true);
    };
    return this.#answer.completedNative?.(this.#fold.completion(), bytes).then(send) ?? send();
  }

  #render(events: readonly GenerationEvent[]): string {
    let text = "";
    for (const event of events) text += this.#renderer.push(event);
    return text;
  }

  /** Records the outcome. The end of the answer is sent only afterwards. */
  #recordSuccess(): void {
    this.#hasSucceeded = true;
    finishWithSuccess(this.#generation.job, this.#fold.completion());
    this.#job.context.recordOutcome(STREAM_STATUS);
  }

  async #endWithError(thrown: unknown): Promise<void> {
    const writer = this.#writer;
    if (this.#hasSucceeded) {
      // Only sending the end failed.
      void writer.end("");
      return;
    }
    const error = explainFailure(this.#job, thrown);
    finishWithError(this.#generation.job, error, this.#generation.usageSoFar());
    if (!writer.isCommitted) {
      writer.failBeforeStart(error);
      return;
    }
    const text = this.#renderError(error);
    const isPresent = error.status !== 499;
    if (isPresent) await this.#answer.failed?.();
    this.#job.context.recordOutcome(STREAM_STATUS);
    const ended = writer.end(text);
    if (isPresent) await withTimeout(ended, this.#idleTimeoutMs);
  }

  /** The dialect's error event; empty if the caller has got the provider's own. */
  #renderError(error: GatewayError): string {
    const { relay } = this.#generation;
    if (relay?.hasSentError === true) return "";
    const lineBreaks = relay?.hasSentFragment === true ? "\n\n" : "";
    return lineBreaks + this.#render(this.#format.push([{ type: "error", error }]));
  }
}
