import { sha256Hex } from "../encoding/hash.ts";
import type { Context } from "../platform/context.ts";

/** An answer that is made once and given to many. */
export interface KeptAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers that belong to the body; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch at which it was made. */
  readonly madeAt: number;
  /** Seconds for which it may be given to others. */
  readonly lifetime: number;
  /** It was found, not made for this request. */
  readonly hit: boolean;
}

const MADE_AT = "x-made-at";
const LIFETIME = "x-lifetime";

/** Names what an answer depends on, as a cache key on the program's own address. */
export async function cacheKey(context: Context, kind: string, on: unknown): Promise<string> {
  return new URL(`/.kept/${kind}/${await digest(JSON.stringify(on))}`, context.url).href;
}

/** The kept answer under a key, if it is younger than `maxAge` seconds. */
export async function findAnswer(context: Context, key: string, maxAge: number): Promise<KeptAnswer | null> {
  if (maxAge === 0) return null;
  const found = await context.platform.pages.cache.match(key).catch(() => undefined);
  if (found === undefined) return null;
  const madeAt = Number(found.headers.get(MADE_AT));
  const lifetime = Number(found.headers.get(LIFETIME));
  if (context.platform.now() - madeAt >= Math.min(maxAge, lifetime) * 1_000) return null;
  const headers: Record<string, string> = {};
  for (const [name, value] of found.headers) {
    if (name.startsWith("x-page-") || name.startsWith("x-image-") || name === "content-type")
      headers[name] = value;
  }
  return { body: new Uint8Array(await found.arrayBuffer()), headers, madeAt, lifetime, hit: true };
}

/** Keeps an answer for later requests, behind the response's back. */
export function keepAnswer(context: Context, key: string, answer: KeptAnswer): void {
  const { body, headers, madeAt, lifetime } = answer;
  const response = new Response(body, {
    headers: {
      ...headers,
      "cache-control": `public, max-age=${lifetime}`,
      [MADE_AT]: String(madeAt),
      [LIFETIME]: String(lifetime),
    },
  });
  context.waitUntil(context.platform.pages.cache.put(key, response).catch(() => undefined));
}

/**
 * The response that gives an answer: with its age, the time that it may be kept, and a tag by which the caller need not have it twice (RFC 9110
 * and 9111).
 *
 * @param maxAge seconds that the caller accepts; 0: nobody may keep it
 */
export async function answerResponse(
  context: Context,
  { body, headers, madeAt, lifetime, hit }: KeptAnswer,
  maxAge: number,
): Promise<Response> {
  const etag = `"${await digest(body)}"`;
  const seconds = Math.min(maxAge, lifetime);
  const all = new Headers({
    ...headers,
    etag,
    "cache-control": seconds === 0 ? "no-store" : `public, max-age=${seconds}`,
    age: String(hit ? Math.max(0, Math.floor((context.platform.now() - madeAt) / 1_000)) : 0),
    "x-cache": hit ? "HIT" : maxAge === 0 ? "BYPASS" : "MISS",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "cross-origin",
  });
  const known = context.request.headers.get("if-none-match")?.split(",") ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*")) {
    return new Response(null, { status: 304, headers: all });
  }
  all.set("content-length", String(body.byteLength));
  return new Response(body, { headers: all });
}

/** The first 128 bits of a SHA-256 digest, in hexadecimal. */
async function digest(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return (await sha256Hex(content)).slice(0, 32);
}
