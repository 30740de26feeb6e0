import { GatewayError, toGatewayError } from "../errors/gateway-error.ts";
import { clientKey } from "../http/client-key.ts";
import type { Context } from "../platform/context.ts";
import type { RateDecision } from "../platform/pages.ts";

/**
 * Answers a call. It may begin with what costs nothing to the outside while the call is counted; it awaits `admitted`, which rejects
 * when the client has had its share, before it does anything else.
 */
export type CountedHandler = (context: Context, admitted: Promise<void>) => Promise<Response>;

/**
 * Counts every call of a client over both operations of the page service, whatever comes of it, and says in each answer what is left (contract,
 * limits; IETF draft "RateLimit header fields for HTTP", version 6).
 */
export function rateLimited(handler: CountedHandler): (context: Context) => Promise<Response> {
  return async (context) => {
    const counting = Promise.resolve(
      context.platform.pages.countCall(
        clientKey(context.clientAddress),
        context.platform.variables.pageRateLimit,
      ),
    );
    const admitted = counting.then((decision) => {
      if (!decision.allowed) throw limitExceeded(decision);
    });
    const answering = handler(context, admitted);
    answering.catch(() => undefined);
    const headers = rateHeaders(await counting);
    try {
      await admitted;
      const response = await answering;
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      return response;
    } catch (thrown) {
      throw withHeaders(thrown, context, { "cache-control": "no-store", ...headers });
    }
  };
}

function rateHeaders({ limit, remaining, resetSeconds }: RateDecision): Record<string, string> {
  return {
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(resetSeconds),
    "ratelimit-policy": `${limit};w=60`,
  };
}

function limitExceeded({ limit, resetSeconds }: RateDecision): GatewayError {
  return new GatewayError(429, `You may make ${limit} calls a minute. Try again in ${resetSeconds} s.`, {
    code: "rate_limit_exceeded",
    headers: { "retry-after": String(resetSeconds) },
  });
}

function withHeaders(thrown: unknown, context: Context, headers: Record<string, string>): GatewayError {
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
