import type { Platform } from "../../core/ports/platform.ts";
import { type ResponseContext, respondWithinBudget } from "../../core/routing/budgeted-response.ts";
import type { Freshness } from "../http/freshness.ts";
import { cancelBody, convertIfNeeded, type ServableAnswer } from "./answer.ts";

/**
 * The response for an answer, with its age, its cache lifetime, and an entity tag for conditional requests (RFC 9110
 * and 9111).
 *
 * @param freshness what the caller accepts; with a `maxAge` of 0 the response is not cacheable
 */
export async function createResponse(
  context: ResponseContext & { readonly platform: Pick<Platform, "now"> },
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
