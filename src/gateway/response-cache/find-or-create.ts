import type { Context } from "../../core/ports/context.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { type RecordedAnswer, recordAnswer } from "../../core/routing/answer-recorder.ts";
import { respondWithinBudget } from "../../core/routing/budgeted-response.ts";
import type { CacheDirectives } from "./cache-control.ts";
import { cancelBody, type FoundEntry, findEntry, storeEntry } from "./entry-store.ts";

/** A request whose answer may be in the cache. */
export interface CachedRequest {
  readonly context: Context;
  /** The address of its answer. */
  readonly key: string;
  /** How long its answer is served again, in seconds. */
  readonly seconds: number;
  readonly directives: CacheDirectives;
  /**
   * Checks and counts the request before a cached answer is sent, then calls {@link markAsHit}, and records it. Throws if
   * the answer must not be sent.
   */
  readonly admitReplay: (entry: FoundEntry) => Promise<void>;
  /** Makes a new answer. */
  readonly createAnswer: (context: Context) => Promise<Response>;
  /** Why an answer that was sent to its end has ended; null: it must not be stored. */
  readonly findStoredReason: (answer: RecordedAnswer) => string | null;
}

/** Writes to a request's facts that a cached answer is sent. */
export function markAsHit(facts: RequestFacts, { droppedParams }: FoundEntry): void {
  facts.cache = "hit";
  if (droppedParams !== "") facts.droppedParams = droppedParams;
}

/** Answers a request from the cache, or makes a new answer and stores it. */
export async function findOrCreate(cached: CachedRequest): Promise<Response> {
  const { context, key, directives, seconds } = cached;
  const { platform, facts } = context;
  const found = await findEntry(platform.responseCache, key, directives, seconds, platform.now());
  if (found === null) {
    facts.cache = "miss";
    return createAndStore(cached);
  }
  return replay(cached, found).catch(async (error: unknown) => {
    await cancelBody(found.body);
    throw error;
  });
}

async function replay({ context, admitReplay }: CachedRequest, entry: FoundEntry): Promise<Response> {
  await admitReplay(entry);
  const { body, contentType, age } = entry;
  const headers = { "content-type": contentType, age: String(age) };
  return body instanceof Uint8Array
    ? respondWithinBudget(context, body, { headers })
    : new Response(body, { headers });
}

/** Makes a new answer, and stores it if it was sent to its end and may be stored. */
async function createAndStore(cached: CachedRequest): Promise<Response> {
  const { context, key, seconds, createAnswer, findStoredReason } = cached;
  const { platform, facts } = context;
  /** Settles when a streamed answer is sent. */
  let sending: Promise<void> | undefined;
  const settle = async (answer: RecordedAnswer | null) => {
    const finishReason = answer === null ? null : findStoredReason(answer);
    if (answer === null || finishReason === null) return;
    const entry = {
      body: answer.body,
      contentType: answer.headers["content-type"] ?? "application/json",
      finishReason,
      droppedParams: facts.droppedParams ?? "",
      madeAt: platform.now(),
    };
    // The answer's end does not wait for the cache.
    context.waitUntil(storeEntry(platform.responseCache, key, entry, seconds));
  };
  const response = await createAnswer({
    ...context,
    keepUntil: (sent) => {
      sending = sent;
      context.keepUntil(sent);
    },
  });
  return recordAnswer(context, response, { sending, onDeparture: "end", settle });
}
