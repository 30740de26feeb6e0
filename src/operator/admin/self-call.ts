import type { KnownKey } from "../../core/auth/caller-keys.ts";
import { authenticateCaller, createManagedCaller } from "../../core/auth/callers.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { errorResponse, STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import { createChatCompletion } from "../../gateway/dialects/chat-completions/endpoints.ts";

/**
 * Makes one chat-completions call to the gateway itself, within the process. Returns the response that a client with that
 * key would get, errors included. Never throws.
 *
 * @param key a configured key, or a credential
 * @param body the request body, before serialization to JSON
 */
export async function callChatCompletions(
  context: Context,
  key: KnownKey | string,
  body: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const request = new Request(new URL("/v1/chat/completions", context.url), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-gateway-source": context.request.headers.get("x-gateway-source") ?? "admin",
      ...(typeof key === "string" && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
    signal: context.request.signal,
  });
  const inner: Context = { ...context, request, url: new URL(request.url) };
  try {
    const caller =
      typeof key === "string"
        ? await authenticateCaller(inner, [{ in: "bearer" }])
        : createManagedCaller(key, context.platform.now(), null);
    if (caller.key !== null) inner.facts.key = caller.key.id;
    return await createChatCompletion.serve(inner, {}, caller);
  } catch (thrown) {
    return errorResponse(STANDARD_FAMILY, toGatewayError(thrown, context.requestId));
  }
}
