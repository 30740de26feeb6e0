import * as z from "zod";
import { getKeyRejection, getKnownKeys, type KnownKey } from "../../core/auth/caller-keys.ts";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { chatCompletionAnswers } from "../../gateway/dialects/chat-completions/answers.ts";
import { testModelSchema } from "./accounts/account-test.ts";
import { matchesIdentifier } from "./keys/key-entries.ts";
import { callChatCompletions } from "./self-call.ts";

/** Characters that an HTTP header value may contain (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\x20-\x7e\x80-\xff]*$/;

/** Body of `POST /admin/test`; it may be missing. `api_key` is a key or a key's `id`. */
const apiTestSchema = lazyObject(() => ({
  model: testModelSchema(),
  message: z
    .string()
    .optional()
    .transform((message) => message || "Hello! Please answer in one short sentence."),
  api_key: z.string().trim().default(""),
}));

/**
 * Finds the key by the key itself or by its `id`. An empty name selects the first configured key that works. A credential
 * that is not a configured key is returned unchanged.
 *
 * @throws GatewayError 400 if no key is configured, or if the credential cannot be a header value.
 */
export async function resolveTestKey(context: Context, name: string): Promise<KnownKey | string> {
  const { config } = await context.config();
  const keys = await getKnownKeys(config);
  const current = [...keys.values()].filter(({ validUntil }) => validUntil === null);
  if (name === "") {
    const now = context.platform.now();
    const first = current.find((candidate) => getKeyRejection(candidate, now) === null) ?? current[0];
    if (first !== undefined) return first;
    throw invalidRequest("no API key is configured: add one, or send api_key", "api_key");
  }
  for (const candidate of current) if (await matchesIdentifier(candidate.key.entry, name)) return candidate;
  if (HEADER_VALUE.test(name)) return name;
  throw invalidRequest("api_key: the key has characters that a header cannot carry", "api_key");
}

/** An error in the standard format. */
const errorSchema = () =>
  z.object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      code: z.string(),
      param: z.string().nullable(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  });

/** `response` is the response that a caller would get: the chat completion or, if `success` is false, the error. */
const outcomeSchema = () => {
  const { "application/json": completion } = chatCompletionAnswers();
  return z.object({
    success: z.boolean(),
    status_code: z.int(),
    response: completion instanceof z.ZodType ? z.union([completion, errorSchema()]) : z.unknown(),
  });
};

export const API_TEST_ENDPOINTS = [
  /** `POST /admin/test` (docs/contract/admin-entries.md): sends one message through the gateway's own pipeline. */
  adminEndpoint({
    method: "POST",
    path: "/admin/test",
    summary: "Send a test message through the gateway",
    body: apiTestSchema,
    optionalBody: true,
    answers: jsonResponse(outcomeSchema),
    handler: async (context, { body: { model, message, api_key } }) => {
      const key = await resolveTestKey(context, api_key);
      const messages = [{ role: "user", content: message }];
      const response = await callChatCompletions(context, key, { model, messages });
      return Response.json({
        success: response.ok,
        status_code: response.status,
        response: await response.json(),
      });
    },
  }),
] satisfies readonly Endpoint[];
