import type { AnswerBody, AnswerCache } from "../../core/ports/pages.ts";
import type { CacheDirectives } from "./cache-control.ts";

/** An answer in the cache. */
export interface CacheEntry {
  readonly body: AnswerBody;
  readonly contentType: string;
  /** Why the answer ended. */
  readonly finishReason: string;
  /** Members of the request that the provider did not get; empty: none. */
  readonly droppedParams: string;
  /** When the answer was made, Unix milliseconds. */
  readonly madeAt: number;
}

/** An answer that was found in the cache. */
export interface FoundEntry extends CacheEntry {
  /** Whole seconds since the answer was made. */
  readonly age: number;
}

const FINISH_REASON = "x-finish-reason";
const DROPPED_PARAMS = "x-dropped-params";
const MADE_AT = "x-made-at";

/** Finds an answer that is younger than `seconds` and that the caller accepts. A failure of the cache is a miss. */
export async function findEntry(
  cache: AnswerCache,
  key: string,
  { maxAge }: CacheDirectives,
  seconds: number,
  now: number,
): Promise<FoundEntry | null> {
  if (maxAge === 0) return null;
  const cached = await cache.match(key).catch(() => undefined);
  if (cached === undefined) return null;
  const { headers, body } = cached;
  const madeAt = Number(headers.get(MADE_AT));
  const age = Math.max(0, now - madeAt) / 1_000;
  if (!Number.isFinite(age) || age >= Math.min(seconds, maxAge)) {
    await cancelBody(body);
    return null;
  }
  return {
    body,
    contentType: headers.get("content-type") ?? "application/json",
    finishReason: headers.get(FINISH_REASON) ?? "",
    droppedParams: headers.get(DROPPED_PARAMS) ?? "",
    madeAt,
    age: Math.floor(age),
  };
}

/** Stores an answer for `seconds`. Never rejects: an answer that is not stored is made again. */
export async function storeEntry(
  cache: AnswerCache,
  key: string,
  entry: Omit<CacheEntry, "body"> & { readonly body: Uint8Array<ArrayBuffer> },
  seconds: number,
): Promise<void> {
  const headers = {
    "content-type": entry.contentType,
    "cache-control": `public, max-age=${seconds}`,
    [FINISH_REASON]: entry.finishReason,
    [DROPPED_PARAMS]: entry.droppedParams,
    [MADE_AT]: String(entry.madeAt),
  };
  await cache.put(key, new Response(entry.body, { headers })).catch(() => undefined);
}

/** Cancels an unread body. Never rejects. */
export async function cancelBody(body: AnswerBody): Promise<void> {
  if (!(body instanceof Uint8Array)) await body.cancel().catch(() => undefined);
}
