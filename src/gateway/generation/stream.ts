import { CompletionFold } from "../../core/conversation/completion-fold.ts";
import type { Conversation } from "../../core/conversation/conversation.ts";
import type { Completion, GenerationEvent } from "../../core/conversation/events.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import { HAS_NATIVE_CHANNEL } from "../../core/http/byte-channel.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";
import { EVENT_STREAM_HEADERS } from "../../core/http/event-stream.ts";
import { beginGeneration, createAnswerInfo } from "./begin-generation.ts";
import { finishWithError, finishWithSuccess } from "./end-generation.ts";
import type { Generation } from "./generation.ts";
import type { AnswerInfo, GenerationRequest } from "./generation-job.ts";
import type { GenerationSink } from "./generation-sink.ts";
import { RouteRunner } from "./route-runner.ts";
import { MIN_BYTES_PER_SECOND } from "./stall-detector.ts";
import { StreamWriter } from "./stream-writer.ts";
import { StreamedFormat } from "./streamed-format.ts";
import { waitAtMost } from "./wait-at-most.ts";

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
function guardSink(sink: GenerationSink, generation: Generation): GenerationSink {
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
  const toCallerError = (thrown: unknown) =>
    toGatewayError(deadline?.explain(thrown) ?? thrown, context.requestId);
  const runner = await RouteRunner.prepare(job).catch((thrown: unknown) => {
    deadline?.end();
    const error = toCallerError(thrown);
    finishWithError(job, error, null);
    throw error;
  });
  const fold = new CompletionFold();
  let { generation } = runner;
  let info = createAnswerInfo(generation.job, () => generation);
  let renderer = answer.stream(info);
  /** Whether the renderer has begun the answer. The models that follow then continue it. */
  let hasBegun = false;
  let succeeded = false;
  const format = new StreamedFormat(request.conversation.responseFormat);
  const { keepAliveMs, idleTimeoutMs } = context.platform.variables;
  const writer = new StreamWriter(keepAliveMs, {
    onRead: (bytes) => generation.stallDetector.recordRead(bytes),
    onDisconnect: () => job.abort.abort(clientDisconnected()),
  });
  const render = (events: readonly GenerationEvent[]): string => {
    let text = "";
    for (const event of events) text += renderer.push(event);
    return text;
  };
  const sink: GenerationSink = {
    ...(HAS_NATIVE_CHANNEL && answer.needsNativeEnd !== true
      ? { pipe: (body: ReadableStream<Uint8Array>) => writer.pipe(body) }
      : {}),
    deliver(generated, native) {
      if (deadline !== undefined && hasContent(generated, job.conversation)) deadline.end();
      if (native !== undefined) return deliverNative(generated, native);
      const events = format.push(hasBegun ? withoutStart(generated) : generated);
      hasBegun = true;
      for (const event of events) fold.push(event);
      const rendered = render(events);
      if (events.at(-1)?.type !== "finish") return writer.write(rendered);
      if (answer.completed === undefined) return sendLastEvents(rendered);
      return answer.completed(fold.completion(), info).then(() => sendLastEvents(rendered));
    },
  };
  /** Sends the provider's own bytes. The events are only counted. */
  const deliverNative = (events: readonly GenerationEvent[], bytes: Uint8Array) => {
    for (const event of events) fold.push(event);
    if (events.at(-1)?.type !== "finish") return writer.writeBytes(bytes);
    const send = () => {
      recordSuccess();
      return writer.writeBytes(bytes, true);
    };
    return answer.completedNative === undefined
      ? send()
      : answer.completedNative(fold.completion(), bytes).then(send);
  };
  const recordSuccess = () => {
    succeeded = true;
    finishWithSuccess(generation.job, fold.completion());
    context.recordOutcome(STREAM_STATUS);
  };
  /** Records the outcome, then sends the end of the answer. */
  const sendLastEvents = (rendered: string) => {
    recordSuccess();
    return writer.write(rendered, true);
  };
  /** The time in which the slowest reader takes the bytes that may still be on their way, milliseconds. */
  const readingTimeMs = () => ((generation.relay?.pipedBytes ?? 0) * 1000) / MIN_BYTES_PER_SECOND;
  const { abort } = job;
  abort.addEventListener("abort", () => writer.rejectPendingWrite(abort.reason));
  // Keep-alives start while the request waits for an account: only a failed write shows a graceful close.
  writer.startKeepAlives(renderer.keepAlive);
  const run = async () => {
    try {
      await runner.run(
        (current) => {
          const isNext = current !== generation;
          generation = current;
          // Until the answer has begun, the renderer can still name the model that answers.
          if (isNext && !hasBegun) {
            info = createAnswerInfo(current.job, () => generation);
            renderer = answer.stream(info);
          }
          return current.run(guardSink(sink, current));
        },
        // Reasoning is not visible output, as in failover between accounts.
        () => generation.hasVisibleOutput,
      );
      // The wait is limited: a reader that has stopped may never take the rest, and the request no longer holds any
      // resources.
      await waitAtMost(writer.close(), idleTimeoutMs + readingTimeMs());
    } catch (thrown) {
      const error = toCallerError(thrown);
      if (succeeded) {
        // Only sending the end failed.
        void writer.end("");
        return;
      }
      finishWithError(generation.job, error, generation.usageSoFar());
      if (writer.isCommitted) {
        const { relay } = generation;
        const lineBreaks = relay?.hasSentFragment === true ? "\n\n" : "";
        const last =
          relay?.hasSentError === true ? "" : lineBreaks + render(format.push([{ type: "error", error }]));
        if (error.status !== 499) await answer.failed?.();
        context.recordOutcome(STREAM_STATUS);
        const ended = writer.end(last);
        if (error.status !== 499) await waitAtMost(ended, idleTimeoutMs);
      } else writer.failBeforeStart(error);
    } finally {
      deadline?.end();
      writer.stopKeepAlives();
    }
  };
  // When the client leaves, only work under `waitUntil` continues to its `finally`.
  const running = run();
  context.waitUntil(running);
  // Rejects on a failure before the first byte, so the caller gets an HTTP status.
  const readable = await writer.ready;
  // `handleRequest` keeps the request's memory and timers until `running` has settled.
  context.keepUntil(running);
  const headers =
    answer.streamType === undefined ? EVENT_STREAM_HEADERS : { "content-type": answer.streamType };
  return new Response(readable, { headers: { ...headers, ...generation.nativeAnswer?.headers } });
}
