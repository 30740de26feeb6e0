import type { Context, Handler } from "../http/context.ts";
import { GatewayError, toGatewayError } from "../http/errors.ts";
import { clientKey } from "./client-key.ts";
import type { RateDecision } from "./rate-window.ts";

/**
 * Counts every call of a client over both operations of the page service, whatever comes of it, and says in each answer what is left (contract,
 * limits; IETF draft "RateLimit header fields for HTTP", version 6).
 */
export function rateLimited(handler: Handler): Handler {
  return async (context) => {
    const decision = await context.platform.pages.countCall(
      clientKey(context.clientAddress),
      context.platform.settings.pageRateLimit,
    );
    const headers = rateHeaders(decision);
    try {
      if (!decision.allowed) throw limitExceeded(decision);
      const response = await handler(context);
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
