import type { CacheConfig } from "../../core/config/schemas/response-cache-schema.ts";
import type { Context } from "../../core/ports/context.ts";
import { countRequest } from "../../pool/limits/limited-use.ts";
import type { CacheableCall } from "./answer-through-cache.ts";
import { parseCacheControl } from "./cache-control.ts";
import { selectCacheSeconds } from "./cache-seconds.ts";
import { containsFileReference, isPinnedOrPrivate } from "./cacheable-request.ts";
import { createEntryKey } from "./entry-key.ts";
import { findOrCreate, markAsHit } from "./find-or-create.ts";

/** These answers have no reason of their end. */
const NO_REASON = "";

/** Answers a request without a conversation from the cache, or makes a new answer and stores it. */
export async function serveCachedCall(
  config: CacheConfig,
  call: CacheableCall,
  createAnswer: (context: Context) => Promise<Response>,
): Promise<Response> {
  const { context, caller, style, model, headers } = call;
  const { request, facts } = context;
  const seconds = selectCacheSeconds(config, caller.key?.entry, model);
  if (seconds === 0) return createAnswer(context);
  const directives = parseCacheControl(request.headers.get("cache-control"));
  const isAllowed = directives.isStorable && !isPinnedOrPrivate(call);
  const input = isAllowed ? call.readInput() : null;
  if (input === null || containsFileReference(input.body)) {
    facts.cache = "miss";
    return createAnswer(context);
  }
  const targets = (model.route ?? []).map((target) => target.model);
  const key = await createEntryKey({ ...input, context, caller, style, model, targets, headers });
  const admit = () => countRequest(context, caller, () => ({ prompt: 0, answer: 0 }));
  return findOrCreate({
    context,
    key,
    seconds,
    directives,
    createAnswer,
    admitReplay: (entry) =>
      call.recordReplay(async () => {
        await admit();
        markAsHit(facts, entry);
      }),
    findStoredReason: (answer) => (facts.error === undefined && call.isStorable(answer) ? NO_REASON : null),
  });
}
