import { GatewayError, toGatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { RateDecision } from "../../core/ports/pages.ts";
import { formatSubject } from "../../core/ports/subject-limits.ts";
import { selectCountedLimits } from "../../pool/limits/limited-use.ts";
import {
  type CallerAccess,
  callerAccess,
  createPublicCaller,
  hasCredentials,
  identifyCaller,
  normalizedQuery,
  type PageCaller,
} from "./page-caller.ts";

/** One call of the page service during the rate limit check. */
export interface PageCall {
  /** The query without the authentication parameters. */
  readonly query: URLSearchParams;
  /** The client whose limits of tabs and queue places apply. */
  readonly client: string;
  /** How the caller was identified. */
  readonly access: CallerAccess;
  /** Rejects if the client has reached its limit, or if its key or link is invalid. */
  readonly admitted: Promise<void>;
}

/**
 * Answers a call. It may start internal work while the call is being counted. It must await `call.admitted` before any
 * work that is visible outside.
 */
export type RateLimitedHandler = (context: Context, call: PageCall) => Promise<Response>;

/**
 * Counts every call of a client over all operations of the page service, whatever its outcome, and adds the rate limit
 * headers to each answer (docs/page-contract.md, Limits; IETF draft "RateLimit header fields for HTTP", version 6).
 * Calls with a key, or with a link that the key signed, count for the key instead.
 */
export function withRateLimit(
  handler: RateLimitedHandler,
  calls = 1,
): (context: Context) => Promise<Response> {
  return async (context) => {
    let caller = createPublicCaller(context);
    let authError: unknown;
    if (hasCredentials(context)) {
      try {
        caller = await identifyCaller(context);
      } catch (thrown) {
        // Count failed keys too, so that guessing keys is rate-limited.
        authError = thrown;
      }
    }
    const { client, key } = caller;
    if (key !== null) context.facts.key = key.id;
    const counting = countCalls(context, caller, calls);
    const admitted = counting.then((decision) => {
      if (decision?.allowed === false) throw createRateLimitError(decision);
      if (authError !== undefined) throw authError;
    });
    admitted.catch(() => undefined);
    const query = normalizedQuery(context.url.searchParams);
    const responding =
      authError === undefined
        ? handler(context, { query, client, access: callerAccess(caller), admitted })
        : null;
    responding?.catch(() => undefined);
    const headers = { "referrer-policy": "no-referrer", ...rateHeaders(await counting) };
    try {
      await admitted;
      const response = await responding;
      if (response === null) throw authError;
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      restrictCaching(response.headers, caller);
      return response;
    } catch (thrown) {
      throw toErrorWithHeaders(thrown, context, { "cache-control": "no-store", ...headers });
    }
  };
}

/**
 * Counts calls of a caller. Calls with a key are counted in the account pool, together with all other requests of the
 * key, so that the key has a single limit. Returns null if the key has no request limit.
 */
async function countCalls(
  { platform }: Context,
  { client, key }: PageCaller,
  calls: number,
): Promise<RateDecision | null> {
  if (key === null) return platform.pages.countCalls(client, platform.variables.pageRateLimit, calls);
  const { requests_per_minute = 0 } = selectCountedLimits({ key }) ?? {};
  if (requests_per_minute === 0) return null;
  const subject = formatSubject("key", key.id);
  const limit = requests_per_minute;
  if (calls > 1) {
    // Refused calls do not count, so look first whether all of them fit.
    const [usage] = await platform.accounts.listSubjectUsage(subject);
    const remaining = Math.max(0, limit - (usage?.minute.requests ?? 0));
    if (remaining < calls) return { allowed: false, limit, remaining, resetSeconds: 60 };
  }
  const request = { key: subject, limits: { requests_per_minute }, tokens: 0, cost: 0 };
  const count = () => platform.accounts.countRequest({ ...request, id: crypto.randomUUID() });
  let result = await count();
  for (let n = 1; n < calls && !("refused" in result); n++) result = await count();
  const requestLimit = result.limits?.requests;
  const waitMs = "refused" in result ? result.limit?.resetMs : requestLimit?.resetMs;
  return {
    allowed: !("refused" in result),
    limit,
    remaining: requestLimit?.remaining ?? 0,
    resetSeconds: Math.max(1, Math.ceil((waitMs ?? 60_000) / 1_000)),
  };
}

/**
 * Restricts shared caching: answers for a key are private, and answers for a signed link are cacheable no longer than
 * the link is valid.
 */
function restrictCaching(headers: Headers, { sharedMaxAge }: PageCaller): void {
  const policy = headers.get("cache-control");
  const seconds = /^public, max-age=(\d+)/.exec(policy ?? "")?.[1];
  if (sharedMaxAge === null || policy === null || seconds === undefined) return;
  headers.set(
    "cache-control",
    sharedMaxAge === 0
      ? policy.replace("public", "private")
      : `public, max-age=${Math.min(Number(seconds), sharedMaxAge + Number(headers.get("age") ?? 0))}`,
  );
}

function rateHeaders(decision: RateDecision | null): Record<string, string> {
  if (decision === null) return {};
  const { limit, remaining, resetSeconds } = decision;
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(resetSeconds),
    "ratelimit-policy": `${limit};w=60`,
  };
}

function createRateLimitError({ limit, resetSeconds }: RateDecision): GatewayError {
  return new GatewayError(429, `You may make ${limit} calls a minute. Try again in ${resetSeconds} s.`, {
    code: "rate_limit_exceeded",
    headers: { "retry-after": String(resetSeconds) },
  });
}

function toErrorWithHeaders(
  thrown: unknown,
  context: Context,
  headers: Record<string, string>,
): GatewayError {
  const error = toGatewayError(thrown, context.requestId);
  const { status, message, code, param, details, cause } = error;
  return new GatewayError(status, message, {
    code,
    param,
    cause,
    headers: { ...headers, ...error.headers },
    ...(details !== undefined && { details }),
  });
}
