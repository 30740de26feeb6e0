import { sha256Hex } from "../../core/encoding/hash.ts";
import { oncePer } from "../../core/encoding/once-per.ts";
import type { Context } from "../../core/ports/context.ts";
import type { PageSetup } from "../../core/ports/page-setup.ts";
import type { AnswerBody, AnswerCache, CachedAnswer, PagesPlatform } from "../../core/ports/pages.ts";
import { type ResponseContext, respondWithinBudget } from "../../core/routing/budgeted-response.ts";
import type { Freshness } from "../http/freshness.ts";
import { isTroubledLifetime } from "./page-headers.ts";

/** A new answer of any operation of the page service: a picture, a PDF or JSON. */
export interface NewAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers that belong to the body; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the answer was made, milliseconds since the epoch. */
  readonly madeAt: number;
  /** Seconds for which other requests may get this answer. */
  readonly lifetime: number;
}

/** An answer that several requests can share. */
export interface ServableAnswer extends Omit<NewAnswer, "body"> {
  readonly body: AnswerBody;
  /** Length of the body in bytes. */
  readonly length: number;
  /** Entity tag: unique among all bodies of the same address. ASCII without quotation marks. */
  readonly entityTag: string;
  /** True if the answer came from the cache, or from a job. */
  readonly isHit: boolean;
  /** True if the answer is older than requested; a new one is being made. */
  readonly isStale?: boolean;
  /** Converts the body to the requested form. Runs only when the body is needed. */
  readonly convertBody?: (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
}

/** What the load of a page needs of its request, or of its task if a job loads the page. */
export interface PageWork extends Pick<Context, "platform" | "url" | "waitUntil"> {
  /** The client whose limits of tabs and queue places apply. */
  readonly client: string;
}

/** The part of a request that the cache needs. */
export interface CacheContext extends Pick<Context, "waitUntil"> {
  readonly platform: { now(): number; readonly pages: Pick<PagesPlatform, "cache"> };
}

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
  make: () => Promise<NewAnswer>,
): Promise<ServableAnswer> {
  if (key === null) {
    await admitted;
    return withEntityTag(await make());
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
    const answer = await withEntityTag(await make());
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

/** Adds the length and the entity tag of a body; computed only once per answer. */
async function withEntityTag(answer: NewAnswer): Promise<ServableAnswer & NewAnswer> {
  return {
    ...answer,
    length: answer.body.byteLength,
    entityTag: await shortDigest(answer.body),
    isHit: false,
  };
}

/** The bytes of a body. */
export async function readBytes(body: AnswerBody): Promise<Uint8Array<ArrayBuffer>> {
  return body instanceof Uint8Array ? body : new Uint8Array(await new Response(body).arrayBuffer());
}

/**
 * Returns the same answer in another form, which is created when its body is needed.
 *
 * @param form name of the form, unique per address: it distinguishes the entity tags without reading the body
 * @param headers the headers of the other form
 */
export function withConversion(
  answer: ServableAnswer,
  form: string,
  headers: ServableAnswer["headers"],
  convertBody: NonNullable<ServableAnswer["convertBody"]>,
): ServableAnswer {
  return { ...answer, headers, entityTag: `${answer.entityTag}-${form}`, convertBody };
}

/** An answer with its body in the requested form. */
export async function convertIfNeeded({ convertBody, ...answer }: ServableAnswer): Promise<ServableAnswer> {
  if (convertBody === undefined) return answer;
  const body = convertBody(await readBytes(answer.body));
  return { ...answer, body, length: body.byteLength };
}

/** Cancels a body that is not needed. Never rejects. */
async function cancelBody(answer: { readonly body: AnswerBody } | null): Promise<void> {
  if (answer === null || answer.body instanceof Uint8Array) return;
  await answer.body.cancel().catch(() => undefined);
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
  make: () => Promise<NewAnswer>,
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

/**
 * The response for an answer, with its age, its cache lifetime, and an entity tag for conditional requests (RFC 9110
 * and 9111).
 *
 * @param freshness what the caller accepts; with a `maxAge` of 0 the response is not cacheable
 */
export async function createResponse(
  context: ResponseContext & { readonly platform: CacheContext["platform"] },
  answer: ServableAnswer,
  { maxAge, staleFor }: Freshness,
): Promise<Response> {
  const { headers, madeAt, lifetime, isHit, isStale } = answer;
  const etag = `"${answer.entityTag}"`;
  const seconds = Math.min(maxAge, lifetime);
  const staleSeconds = Math.min(staleFor, lifetime - seconds);
  const staleDirective = staleSeconds > 0 ? `, stale-while-revalidate=${staleSeconds}` : "";
  const responseHeaders = new Headers({
    ...headers,
    etag,
    "cache-control": seconds === 0 ? "no-store" : `public, max-age=${seconds}${staleDirective}`,
    age: String(isHit ? Math.max(0, Math.floor((context.platform.now() - madeAt) / 1_000)) : 0),
    "x-cache": isStale === true ? "STALE" : isHit ? "HIT" : maxAge === 0 ? "BYPASS" : "MISS",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "cross-origin",
  });
  // The timing belongs to the request that made the answer.
  if (isHit) responseHeaders.delete("server-timing");
  const knownTags = context.request.headers.get("if-none-match")?.split(",") ?? [];
  if (knownTags.some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*")) {
    await cancelBody(answer);
    return new Response(null, { status: 304, headers: responseHeaders });
  }
  const { body, length } = await convertIfNeeded(answer);
  responseHeaders.set("content-length", String(length));
  return body instanceof Uint8Array
    ? respondWithinBudget(context, body, { headers: responseHeaders })
    : new Response(body, { headers: responseHeaders });
}

/** The result of a job's task as an answer. */
export async function createJobAnswer(
  result: Omit<NewAnswer, "lifetime">,
  lifetime: number,
): Promise<ServableAnswer> {
  return { ...(await withEntityTag({ ...result, lifetime })), isHit: true };
}

/** The first 128 bits of a SHA-256 digest, in hexadecimal. */
async function shortDigest(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return (await sha256Hex(content)).slice(0, 32);
}
