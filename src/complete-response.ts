import type { Config } from "./core/config/schema.ts";
import type { Context } from "./core/ports/context.ts";
import type { RequestFacts } from "./core/ports/request-outcome.ts";
import { formatStandardLimitHeaders } from "./core/routing/limit-headers.ts";
import type { RequestHead } from "./core/routing/request-head.ts";
import { findRequestCost, fromNano, listUnpricedParts } from "./records/usage/prices.ts";
import { CORS, PATH_FAMILIES } from "./routes.ts";

/**
 * Sets headers that describe how a generation was answered: the provider and the number of tried accounts where there was a
 * choice of providers, the path of the answer, the cost of a whole answer whose model has a price and what that cost leaves
 * out, the request members that were left out, and whether the answer came from the response cache.
 */
function setGenerationHeaders(headers: Headers, facts: RequestFacts, config: Config | null): void {
  const cost = findKnownCost(facts, config);
  const unpriced = cost === null || config === null ? [] : listUnpricedParts(config, facts);
  const { provider, attempts = 0, answerPath, droppedParams, cache } = facts;
  if (provider !== undefined) {
    headers.set("x-gateway-provider", provider);
    headers.set("x-gateway-attempts", String(attempts));
  }
  if (answerPath !== undefined) headers.set("x-gateway-path", answerPath);
  if (cost !== null) headers.set("x-gateway-cost", String(fromNano(cost)));
  if (unpriced.length > 0) headers.set("x-gateway-cost-without", unpriced.join());
  if (droppedParams !== undefined) headers.set("x-gateway-dropped-params", droppedParams);
  if (cache !== undefined) headers.set("x-gateway-cache", cache);
}

/** The cost of a whole answer; null for a stream, whose headers are sent before its cost is known, and without a price. */
function findKnownCost(facts: RequestFacts, config: Config | null): number | null {
  const isKnown = config !== null && facts.promptTokens !== undefined && facts.stream !== true;
  return isKnown ? findRequestCost(config, facts) : null;
}

/** Removes the provider's own rate limits: the caller's key has limits of its own. */
function removeProviderLimits(headers: Headers): void {
  for (const name of [...headers.keys()]) if (name.includes("ratelimit")) headers.delete(name);
}

/** Adds the headers that every response has: ids, limits, CORS, and how a generation was answered. */
export function completeResponse(
  response: Response,
  { method, path, headers: requestHeaders }: RequestHead,
  { requestId, requestLimits, platform, facts }: Context,
  config: Config | null,
): Response {
  const { requestIdHeader, limitHeaders = formatStandardLimitHeaders } = PATH_FAMILIES.familyOf(path);
  const applies = CORS.appliesTo(path);
  const origin = applies ? requestHeaders.get("origin") : null;
  const complete = (headers: Headers) => {
    headers.set("x-request-id", requestId);
    if (requestIdHeader !== undefined) headers.set(requestIdHeader, requestId);
    if (requestLimits.remaining !== undefined) {
      removeProviderLimits(headers);
      for (const [name, value] of Object.entries(limitHeaders(requestLimits.remaining, platform.now()))) {
        headers.set(name, value);
      }
    }
    if (applies) CORS.setHeaders(headers, origin);
    const { provider, answerPath, cache, operation } = facts;
    if ((provider ?? answerPath ?? cache) !== undefined || operation === "embeddings") {
      setGenerationHeaders(headers, facts, config);
    }
    return headers;
  };
  if (method !== "HEAD") {
    try {
      complete(response.headers);
      return response;
    } catch {
      // Responses of the asset store and of `fetch` have immutable headers.
    }
  }
  const body = method === "HEAD" ? null : response.body;
  const headers = complete(new Headers(response.headers));
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}
