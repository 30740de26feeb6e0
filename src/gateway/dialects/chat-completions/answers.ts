import * as z from "zod";
import { jsonOrEventStream } from "../../../core/routing/event-stream-schemas.ts";
import { tokenLogprobSchema } from "../shared/token-logprobs.ts";
import { annotationSchema } from "./annotations.ts";

/** `usage` of the chat-completions style. */
export const usageSchema = () =>
  z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({
      cached_tokens: z.int(),
      cache_write_tokens: z.int(),
      audio_tokens: z.int().optional(),
    }),
    completion_tokens_details: z.object({ reasoning_tokens: z.int(), audio_tokens: z.int().optional() }),
  });

/** `finish_reason` of the chat-completions style. */
const finishReasonSchema = () => z.enum(["stop", "tool_calls", "function_call", "length", "content_filter"]);

function chatCompletionSchema() {
  const call = z.object({ name: z.string(), arguments: z.string() });
  const toolCall = z.discriminatedUnion("type", [
    z.object({ id: z.string(), type: z.literal("function"), function: call }),
    z.object({
      id: z.string(),
      type: z.literal("custom"),
      custom: z.object({ name: z.string(), input: z.string() }),
    }),
  ]);
  const message = z.object({
    role: z.literal("assistant"),
    content: z.string().nullable(),
    refusal: z.string().nullable(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    function_call: call.optional(),
    annotations: z.array(annotationSchema()).optional(),
  });
  const choice = z.object({
    index: z.literal(0),
    message,
    logprobs: z.object({ content: z.array(tokenLogprobSchema()), refusal: z.null() }).nullable(),
    finish_reason: finishReasonSchema(),
  });
  return z.object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choice),
    usage: usageSchema(),
  });
}

/** A chat completion, or its chunks (docs/contract/answers.md, Chat completion). */
export const chatCompletionAnswers = jsonOrEventStream(
  chatCompletionSchema,
  "Each is a chat.completion.chunk; the last one is [DONE].",
);
