import type { CacheConfig } from "../../core/config/response-cache.ts";
import type { GenerationOutcome } from "../../core/conversation/outcome.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import type { ReplayAnswer } from "../../core/ports/replays.ts";
import { recordAnswer } from "../../core/routing/answer-recorder.ts";
import { respondWithinBudget } from "../../core/routing/budgeted-response.ts";
import { countRequest } from "../../pool/limits/limited-use.ts";
import { beginGeneration } from "../generation/begin-generation.ts";
import { finishFromCache, finishWithError } from "../generation/end-generation.ts";
import type { GenerationRequest } from "../generation/generation-job.ts";
import { applyGuardrails } from "../generation/guarded-job.ts";
import type { CacheableInput, CreateAnswer } from "./answer-through-cache.ts";
import { type CacheDirectives, parseCacheControl } from "./cache-control.ts";
import { selectCacheSeconds } from "./cache-seconds.ts";
import { isCacheable } from "./cacheable-request.ts";
import { createEntryKey } from "./entry-key.ts";
import { cancelBody, type FoundEntry, findEntry, storeEntry } from "./entry-store.ts";

/** The reasons of answers that are stored: the model ended them, or the request's own limit did. */
const STORED_REASONS: ReadonlySet<string> = new Set(["stop", "tool_calls", "length"]);

/** A cached answer has no text in the history: the record of the first answer has it. */
const NO_OUTPUT = { rawText: "", rawReasoning: "" };

/** A request whose answer may be in the cache. */
interface CachedRequest {
  readonly request: GenerationRequest;
  readonly key: string;
  /** How long its answer is served again, in seconds. */
  readonly seconds: number;
  readonly directives: CacheDirectives;
  readonly createAnswer: CreateAnswer;
}

/** Answers a request from the cache, or makes a new answer and stores it. Where the cache is off, it only makes an answer. */
export function serveCached(
  config: CacheConfig,
  request: GenerationRequest,
  input: CacheableInput,
  createAnswer: CreateAnswer,
): Promise<Response> {
  const { context, caller, conversation } = request;
  const seconds = selectCacheSeconds(config, caller.key?.entry, conversation.model);
  if (seconds === 0) return createAnswer(request);
  const directives = parseCacheControl(context.request.headers.get("cache-control"));
  if (!directives.isStorable || !isCacheable(request, input)) {
    context.facts.cache = "miss";
    return createAnswer(request);
  }
  // No async function: its frame would keep the body in memory while the request waits.
  return createEntryKey(request, input).then((key) =>
    findOrCreate({ request, key, seconds, directives, createAnswer }),
  );
}

async function findOrCreate(cached: CachedRequest): Promise<Response> {
  const { request, key, directives, seconds } = cached;
  const { platform, facts } = request.context;
  const found = await findEntry(platform.responseCache, key, directives, seconds, platform.now());
  if (found === null) {
    facts.cache = "miss";
    return createAndStore(cached);
  }
  return replay(request, found).catch(async (error: unknown) => {
    await cancelBody(found.body);
    throw error;
  });
}

/**
 * Answers with a cached answer. Access, guardrails of the request and limits of requests are checked as for a new one; tokens
 * and cost do not count.
 */
async function replay(request: GenerationRequest, entry: FoundEntry): Promise<Response> {
  const { context, caller } = request;
  const { facts, requestId } = context;
  const job = await beginGeneration(request);
  try {
    await applyGuardrails(job);
    await countRequest(context, caller, () => ({ prompt: 0, answer: 0 }));
  } catch (thrown) {
    const error = toGatewayError(job.deadline?.explain(thrown) ?? thrown, requestId);
    finishWithError(job, error, null);
    throw error;
  } finally {
    job.deadline?.end();
  }
  facts.cache = "hit";
  if (entry.droppedParams !== "") facts.droppedParams = entry.droppedParams;
  job.recording?.start("", NO_OUTPUT);
  finishFromCache(job, entry.finishReason);
  const { body, contentType, age } = entry;
  const headers = { "content-type": contentType, age: String(age) };
  return body instanceof Uint8Array
    ? respondWithinBudget(context, body, { headers })
    : new Response(body, { headers });
}

/** Makes a new answer, and stores it if it is whole and the generation succeeded. */
async function createAndStore({ request, key, seconds, createAnswer }: CachedRequest): Promise<Response> {
  const { context, onOutcome } = request;
  const { platform, facts } = context;
  let outcome: GenerationOutcome | undefined;
  /** Settles when a streamed answer is sent. */
  let sending: Promise<void> | undefined;
  const settle = async (answer: ReplayAnswer | null) => {
    if (answer === null || outcome?.status !== "success" || !STORED_REASONS.has(outcome.finishReason)) return;
    const entry = {
      body: answer.body,
      contentType: answer.headers["content-type"] ?? "application/json",
      finishReason: outcome.finishReason,
      droppedParams: facts.droppedParams ?? "",
      madeAt: platform.now(),
    };
    // The answer's end does not wait for the cache.
    context.waitUntil(storeEntry(platform.responseCache, key, entry, seconds));
  };
  const response = await createAnswer({
    ...request,
    context: {
      ...context,
      keepUntil: (sent) => {
        sending = sent;
        context.keepUntil(sent);
      },
    },
    onOutcome: (ended) => {
      outcome = ended;
      onOutcome?.(ended);
    },
  });
  return recordAnswer(context, response, { sending, onDeparture: "end", settle });
}
