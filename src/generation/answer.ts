import type { Caller } from "../auth/callers.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Completion, GenerationEvent } from "../conversation/events.ts";
import { CompletionFold } from "../conversation/fold.ts";
import { GatewayError, toGatewayError } from "../errors/gateway-error.ts";
import { historyRecorder } from "../history/recorder.ts";
import { EVENT_STREAM_HEADERS } from "../http/event-stream.ts";
import type { Context } from "../platform/context.ts";
import { boundToFiles } from "./file-references.ts";
import { Generation, type GenerationJob, type GenerationSink } from "./generate.ts";
import { repairFormat } from "./response-format.ts";
import { StreamWriter } from "./stream-writer.ts";

/** What a renderer may need to know of the answer besides its events. */
export interface AnswerInfo {
  readonly conversation: Conversation;
  readonly requestId: string;
  /** Unix seconds. */
  readonly created: number;
  /** Estimated tokens of the prompt, for dialects that state them up front; computed when asked for. */
  promptTokens(): number;
}

/** Renders one generation's events as a dialect's stream. Pure: state and event in, text out. */
export interface StreamRenderer {
  /** What a silent stream carries, in the dialect's own form. */
  readonly keepAlive: string;
  /** The text of one event; empty when the dialect says nothing. `error` is the dialect's own error event. */
  push(event: GenerationEvent): string;
}

/** A dialect's way of answering. */
export interface DialectAnswer {
  /** Media type of the stream when it is not an event stream. */
  readonly streamType?: string;
  stream(info: AnswerInfo): StreamRenderer;
  /** The body of a non-streaming answer. */
  body(completion: Completion, info: AnswerInfo): unknown;
  /**
   * Called when the generation has succeeded and before its last event or body is sent: the place to keep what a later
   * request will ask for. Of a stream everything has been rendered by then.
   */
  completed?(completion: Completion, info: AnswerInfo): Promise<void>;
}

/**
 * Answers a conversation in its dialect: the one pipeline behind every generation route, streaming and not.
 *
 * @throws GatewayError before the first byte; afterwards an error is the dialect's own error event.
 */
export async function answer(
  context: Context,
  caller: Caller,
  conversation: Conversation,
  dialect: DialectAnswer,
): Promise<Response> {
  context.log.dialect = conversation.dialect;
  context.log.model = conversation.model.id;
  context.log.stream = conversation.stream;
  const abort = new AbortController();
  const recorder = historyRecorder(context, caller);
  const left = () => abort.abort(clientLeft());
  context.request.signal.addEventListener("abort", left, { once: true });
  const bound = await boundToFiles(context, caller, conversation);
  const job: GenerationJob = { context, caller: bound, conversation, recorder, abort };
  return conversation.stream ? streamed(job, dialect) : whole(job, dialect);
}

function clientLeft(): GatewayError {
  return new GatewayError(499, "the client went away", { code: "request_cancelled" });
}

function describe(job: GenerationJob, generation: () => Generation): AnswerInfo {
  const { context, conversation } = job;
  return {
    conversation,
    requestId: context.requestId,
    created: Math.floor(context.startedAt / 1000),
    promptTokens: () => generation().estimatedPromptTokens(),
  };
}

/** Notes in history and log how a generation ended. */
function conclude(job: GenerationJob, error: GatewayError | null, completion: Completion | null): void {
  const cancelled = error?.status === 499;
  if (completion !== null) {
    job.context.log.promptTokens = completion.usage.prompt;
    job.context.log.completionTokens = completion.usage.completion;
  }
  if (error !== null) job.context.log.error = error.code;
  job.recorder.end({
    status: error === null ? "success" : cancelled ? "cancelled" : "error",
    statusCode: error?.status ?? 200,
    error: error?.message ?? "",
    finishReason: completion?.finishReason ?? "",
    usage: completion?.usage ?? null,
  });
}

async function whole(job: GenerationJob, dialect: DialectAnswer): Promise<Response> {
  const fold = new CompletionFold();
  const sink: GenerationSink = {
    deliver(events) {
      for (const event of events) fold.push(event);
      return undefined;
    },
  };
  try {
    const generation = await Generation.prepare(job, sink);
    const info = describe(job, () => generation);
    await generation.run();
    const folded = fold.completion();
    const linked = { ...folded, text: generation.assembler.linkCitations(folded.text) };
    const completion = await repairFormat(job, linked);
    await dialect.completed?.(completion, info);
    conclude(job, null, completion);
    return Response.json(dialect.body(completion, info));
  } catch (thrown) {
    const error = toGatewayError(thrown, job.context.requestId);
    conclude(job, error, null);
    throw error;
  }
}

async function streamed(job: GenerationJob, dialect: DialectAnswer): Promise<Response> {
  const { context } = job;
  const fold = new CompletionFold();
  let info: AnswerInfo | undefined;
  let renderer: StreamRenderer | undefined;
  const writer = new StreamWriter(context.platform.settings.keepAliveMs, () => {
    job.abort.abort(clientLeft());
  });
  const render = (events: readonly GenerationEvent[]): string => {
    let text = "";
    for (const event of events) text += renderer?.push(event) ?? "";
    return text;
  };
  const sink: GenerationSink = {
    deliver(events) {
      for (const event of events) fold.push(event);
      const last = events.at(-1);
      if (last?.type === "finish" && dialect.completed !== undefined && info !== undefined) {
        const rendered = render(events);
        return dialect.completed(fold.completion(), info).then(() => writer.write(rendered));
      }
      return writer.write(render(events));
    },
  };
  const generation = await Generation.prepare(job, sink).catch((thrown: unknown) => {
    conclude(job, toGatewayError(thrown, context.requestId), null);
    throw thrown;
  });
  info = describe(job, () => generation);
  renderer = dialect.stream(info);
  // Also while the request waits for an account: a departed client shows only on a failed write.
  writer.beat(renderer.keepAlive);
  const run = async () => {
    try {
      await generation.run();
      conclude(job, null, fold.completion());
      await writer.close();
    } catch (thrown) {
      const error = toGatewayError(thrown, context.requestId);
      conclude(job, error, null);
      if (writer.committed) await writer.end(render([{ type: "error", error }]));
      else writer.refuse(error);
    } finally {
      writer.stop();
    }
  };
  // Only work under `waitUntil` goes on to its `finally` when the client leaves.
  const running = run();
  context.log.streaming = running;
  context.waitUntil(running);
  const readable = await writer.ready;
  const headers =
    dialect.streamType === undefined ? EVENT_STREAM_HEADERS : { "content-type": dialect.streamType };
  return new Response(readable, { headers });
}
