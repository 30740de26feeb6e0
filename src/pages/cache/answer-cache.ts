import { oncePer } from "../../core/encoding/once.ts";
import type { Context } from "../../core/ports/context.ts";
import type { PageSetup } from "../../core/ports/page-setup.ts";
import type { AnswerCache, CachedAnswer, PagesPlatform } from "../../core/ports/pages.ts";
import {
  cancelBody,
  type NewAnswer,
  type ServableAnswer,
  shortDigest,
  withEntityTag,
} from "../answers/answer.ts";
import { isTroubledLifetime } from "../answers/page-headers.ts";
import type { Freshness } from "../http/freshness.ts";

/** The part of a request that the cache needs. */
export interface CacheContext extends Pick<Context, "waitUntil"> {
  /** Aborts when the client that waits for the answer leaves. */
  readonly signal?: AbortSignal | undefined;
  readonly platform: { now(): number; readonly pages: Pick<PagesPlatform, "cache"> };
}

/** Makes a new answer. The signal aborts when the client that waits for it leaves; absent if no client waits. */
export type MakeAnswer = (signal?: AbortSignal) => Promise<NewAnswer>;

const MADE_AT = "x-made-at";
const LIFETIME = "x-lifetime";
const LENGTH = "x-length";
const TAG = "x-tag";

/**
 * The cache key of an answer: an address on the program's own origin, with a digest of everything the answer depends
 * on. Null for a request with secrets, whose answer is never cached.
 */
export async function createCacheKey(
  context: Pick<Context, "url">,
  kind: string,
  setup: PageSetup,
  inputs: unknown,
): Promise<string | null> {
  if (setup.secrets !== null) return null;
  return `${context.url.origin}/.kept/${kind}/${await shortDigest(JSON.stringify([setup, inputs]))}`;
}

/**
 * Returns the cached answer of a key, or makes a new one and caches it. A stale answer within the stale period is
 * returned immediately, and replaced in the background.
 *
 * @param key null: the answer is not cached
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 * @throws the error of `make`
 */
export async function getOrCreate(
  context: CacheContext,
  key: string | null,
  freshness: Freshness,
  admitted: Promise<void>,
  make: MakeAnswer,
): Promise<ServableAnswer> {
  if (key === null) {
    await admitted;
    return withEntityTag(await make(context.signal));
  }
  const lookup = findAnswer(context, key, freshness);
  try {
    await admitted;
  } catch (error) {
    context.waitUntil(lookup.then(cancelBody));
    throw error;
  }
  const cached = await lookup;
  if (cached === null) {
    const answer = await withEntityTag(await make(context.signal));
    context.waitUntil(storeInCache(context.platform.pages.cache, key, answer));
    return answer;
  }
  if (cached.isStale === true) context.waitUntil(renewInBackground(context, key, cached.madeAt, make));
  return cached;
}

/** The cached answer of a key, if it is not too old. */
async function findAnswer(
  { platform }: CacheContext,
  key: string,
  { maxAge, staleFor }: Freshness,
): Promise<ServableAnswer | null> {
  if (maxAge === 0) return null;
  const cached = await findCached(platform.pages.cache, key);
  if (cached === undefined) return null;
  const madeAt = Number(cached.headers.get(MADE_AT));
  const lifetime = Number(cached.headers.get(LIFETIME));
  const age = (platform.now() - madeAt) / 1_000;
  const tag = cached.headers.get(TAG);
  if (tag === null || age >= Math.min(maxAge + staleFor, lifetime)) {
    await cancelBody(cached);
    return null;
  }
  const length = Number(cached.headers.get(LENGTH));
  const headers: Record<string, string> = {};
  for (const [name, value] of cached.headers) {
    if (name.startsWith("x-page-") || name.startsWith("x-image-") || name === "content-type")
      headers[name] = value;
  }
  return {
    body: cached.body,
    length,
    entityTag: tag,
    headers,
    madeAt,
    lifetime,
    isHit: true,
    isStale: age >= maxAge,
  };
}

/** Seconds after which a failed renewal may be retried. */
const RENEWAL_RETRY_SECONDS = 60;

const getRunningRenewals = oncePer((_: AnswerCache) => new Set<string>());

/**
 * Replaces a stale answer with a new one, unless a renewal already runs. If the renewal fails, or the page
 * now gives an error or an incomplete answer, the old answer stays. Never rejects.
 */
async function renewInBackground(
  { platform }: CacheContext,
  key: string,
  madeAt: number,
  make: MakeAnswer,
): Promise<void> {
  const { cache } = platform.pages;
  const running = getRunningRenewals(cache);
  if (running.has(key)) return;
  running.add(key);
  try {
    // The marker is in the cache because other isolates share it.
    const marker = `${key}/renewal`;
    const startMarker = await findCached(cache, marker);
    if (startMarker !== undefined && Number(startMarker.headers.get(MADE_AT)) >= madeAt) return;
    const now = String(platform.now());
    const headers = { "cache-control": `public, max-age=${RENEWAL_RETRY_SECONDS}`, [MADE_AT]: now };
    await cache.put(marker, new Response("", { headers })).catch(() => undefined);
    const answer = await make();
    if (!isTroubledLifetime(answer.lifetime)) await storeInCache(cache, key, await withEntityTag(answer));
  } catch {
    // The error is reported to the first request after the stale period.
  } finally {
    running.delete(key);
  }
}

function findCached(cache: AnswerCache, key: string): Promise<CachedAnswer | undefined> {
  return cache.match(key).catch(() => undefined);
}

/** Stores an answer in the cache. Does not reject. */
async function storeInCache(
  cache: AnswerCache,
  key: string,
  { body, length, entityTag, headers, madeAt, lifetime }: ServableAnswer & NewAnswer,
): Promise<void> {
  const response = new Response(body, {
    headers: {
      ...headers,
      "cache-control": `public, max-age=${lifetime}`,
      [MADE_AT]: String(madeAt),
      [LIFETIME]: String(lifetime),
      [LENGTH]: String(length),
      [TAG]: entityTag,
    },
  });
  await cache.put(key, response).catch(() => undefined);
}
