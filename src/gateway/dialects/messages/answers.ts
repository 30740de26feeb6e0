import * as z from "zod";
import { jsonOrEventStream } from "../../../core/routing/event-stream-schemas.ts";
import { citationSchema } from "./citations.ts";
import { searchBlockSchemas } from "./search-blocks.ts";

function messageSchema() {
  const block = z.discriminatedUnion("type", [
    z.object({
      type: z.literal("text"),
      text: z.string(),
      citations: z.array(citationSchema()).nullable(),
    }),
    z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
    z.object({
      type: z.literal("tool_use"),
      id: z.string(),
      name: z.string(),
      input: z.record(z.string(), z.unknown()),
      caller: z.object({ type: z.literal("direct") }),
    }),
    ...searchBlockSchemas(),
  ]);
  return z.object({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(block),
    container: z.null(),
    diagnostics: z.null(),
    stop_details: z
      .object({ type: z.literal("refusal"), category: z.null(), explanation: z.null() })
      .nullable(),
    stop_reason: z.enum(["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal"]),
    stop_sequence: z.string().nullable(),
    usage: z.object({
      input_tokens: z.int(),
      cache_creation_input_tokens: z.int(),
      cache_read_input_tokens: z.int(),
      output_tokens: z.int(),
      output_tokens_details: z.object({ thinking_tokens: z.int() }),
      server_tool_use: z.object({ web_search_requests: z.int(), web_fetch_requests: z.int() }).nullable(),
      cache_creation: z
        .object({ ephemeral_5m_input_tokens: z.int(), ephemeral_1h_input_tokens: z.int() })
        .nullable(),
      inference_geo: z.null(),
      service_tier: z.literal("standard"),
      speed: z.null(),
    }),
  });
}

/** A message, or the events of a streamed one (docs/contract/answers.md, Message-style response). */
export const messageAnswers = jsonOrEventStream(messageSchema, "From message_start to message_stop.");

/** Schema of the answer of `count_tokens`. */
export const tokenCountSchema = () => z.object({ input_tokens: z.int() });

/** A model of the message-style list, with the additional fields that SDKs of the style read. */
export const messageModelSchema = () =>
  z.object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    type: z.literal("model"),
    display_name: z.string(),
    created_at: z.string(),
    capabilities: z.null(),
    deprecated_at: z.null(),
    lifecycle: z.literal("active"),
    line: z.null(),
    max_input_tokens: z.int(),
    max_tokens: z.int().nullable(),
    retires_at: z.null(),
  });

/** The message-style list of models (docs/contract/generations.md). */
export const messageModelsSchema = () =>
  z.object({
    object: z.literal("list"),
    data: z.array(messageModelSchema()),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
