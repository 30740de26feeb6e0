import * as z from "zod";
import { chatCompletionAnswers } from "../dialects/chat-completions/answers.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { modelSchema } from "./account-test.ts";
import { keyId } from "./config-view.ts";
import { allKeys } from "./edit.ts";
import { callChatCompletions } from "./self-call.ts";

/** What a header can carry (RFC 9110, 5.5). */
const FIELD_VALUE = /^[\x20-\x7e\x80-\xff]*$/;

/** `POST /admin/test`. `api_key` may also be a key's `id`. */
const apiTestSchema = z.object({
  model: modelSchema,
  message: z
    .string()
    .optional()
    .transform((message) => message || "Hello! Please answer in one short sentence."),
  api_key: z.string().trim().default(""),
});

/**
 * The key that an administrator named, by itself or by its `id`; the first configured one for an empty name.
 *
 * @throws GatewayError 400 when no key is configured, or for one that no request could carry.
 */
export async function namedKey(context: Context, name: string): Promise<string> {
  const { config } = await context.config();
  const keys = allKeys(config);
  if (name.startsWith("key:")) {
    for (const { key } of keys) if ((await keyId(key)) === name) return key;
  }
  const key = name || keys[0]?.key;
  if (key === undefined)
    throw invalidRequest("no API key is configured: add one, or send api_key", "api_key");
  if (!FIELD_VALUE.test(key))
    throw invalidRequest("api_key: the key has characters that a header cannot carry", "api_key");
  return key;
}

/** An error in the shape of the standard family. */
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

/** `response` is what a caller would have got: the chat completion or, unless `success`, the error. */
const outcomeSchema = () => {
  const { "application/json": completion } = chatCompletionAnswers();
  return z.object({
    success: z.boolean(),
    status_code: z.int(),
    response: completion instanceof z.ZodType ? z.union([completion, errorSchema()]) : z.unknown(),
  });
};

export const API_TEST_ENDPOINTS: readonly Endpoint[] = [
  /** `POST /admin/test` (contract): one message through the gateway's own pipeline. */
  forAdministrators({
    method: "POST",
    path: "/admin/test",
    summary: "Send a test message through the gateway",
    body: apiTestSchema,
    answers: json(outcomeSchema),
    handler: async (context, { body: { model, message, api_key } }) => {
      const key = await namedKey(context, api_key);
      const messages = [{ role: "user", content: message }];
      const response = await callChatCompletions(context, key, { model, messages });
      return Response.json({
        success: response.ok,
        status_code: response.status,
        response: await response.json(),
      });
    },
  }),
];
