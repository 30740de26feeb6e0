import type { CacheConfig } from "../../core/config/schemas/response-cache-schema.ts";
import { EMPTY_OUTPUT, type GenerationOutcome } from "../../core/conversation/outcome.ts";
import { countRequest } from "../../pool/limits/limited-use.ts";
import { beginGeneration } from "../generation/begin-generation.ts";
import { finishFromCache, finishWithError } from "../generation/end-generation.ts";
import { explainFailure, type GenerationRequest } from "../generation/generation-job.ts";
import { applyGuardrails } from "../generation/guarded-job.ts";
import type { CacheableInput, CreateAnswer } from "./answer-through-cache.ts";
import { parseCacheControl } from "./cache-control.ts";
import { selectCacheSeconds } from "./cache-seconds.ts";
import { isCacheable } from "./cacheable-request.ts";
import { createConversationKey } from "./entry-key.ts";
import type { FoundEntry } from "./entry-store.ts";
import { findOrCreate, markAsHit } from "./find-or-create.ts";

/** The reasons of answers that are stored: the model ended them, or the request's own limit did. */
const STORED_REASONS: ReadonlySet<string> = new Set(["stop", "tool_calls", "length"]);

/**
 * Answers a conversation from the cache, or makes a new answer and stores it.
 * Where the cache is off, it only makes an answer.
 */
export function serveCached(
  config: CacheConfig,
  request: GenerationRequest,
  input: CacheableInput,
  createAnswer: CreateAnswer,
): Promise<Response> {
  const { context, caller, conversation, onOutcome } = request;
  const seconds = selectCacheSeconds(config, caller.key?.entry, conversation.model);
  if (seconds === 0) return createAnswer(request);
  const directives = parseCacheControl(context.request.headers.get("cache-control"));
  if (!directives.isStorable || !isCacheable(request, input)) {
    context.facts.cache = "miss";
    return createAnswer(request);
  }
  let outcome: GenerationOutcome | undefined;
  const recordOutcome = (ended: GenerationOutcome) => {
    outcome = ended;
    onOutcome?.(ended);
  };
  // No async function: its frame would keep the body in memory while the request waits.
  return createConversationKey(request, input).then((key) =>
    findOrCreate({
      context,
      key,
      seconds,
      directives,
      admitReplay: (entry) => admitReplay(request, entry),
      createAnswer: (watched) => createAnswer({ ...request, context: watched, onOutcome: recordOutcome }),
      findStoredReason: () =>
        outcome?.status === "success" && STORED_REASONS.has(outcome.finishReason)
          ? outcome.finishReason
          : null,
    }),
  );
}

/**
 * Treats a request that gets a cached answer as a new one: access, guardrails of the request and limits of requests are
 * checked; tokens and cost do not count.
 */
async function admitReplay(request: GenerationRequest, entry: FoundEntry): Promise<void> {
  const { context, caller } = request;
  const { facts } = context;
  const job = await beginGeneration(request);
  try {
    await applyGuardrails(job);
    await countRequest(context, caller, () => ({ prompt: 0, answer: 0 }));
  } catch (thrown) {
    const error = explainFailure(job, thrown);
    finishWithError(job, error, null);
    throw error;
  } finally {
    job.deadline?.end();
  }
  markAsHit(facts, entry);
  // A cached answer has no text in the history: the record of the first answer has it.
  job.recording?.start("", EMPTY_OUTPUT);
  finishFromCache(job, entry.finishReason);
}
