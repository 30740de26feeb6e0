import * as z from "zod";
import { jsonOrEventStream } from "../../../core/routing/event-stream-schemas.ts";
import { tokenLogprobSchema } from "../shared/token-logprobs.ts";

/**
 * Final states of whole answers and their items. Streams also have other states
 * (docs/contract/answers.md, States and transitions).
 */
const finalStatus = () => z.enum(["completed", "incomplete"]);

function outputItemSchema() {
  const status = finalStatus();
  const text = z.object({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(
      z.object({
        type: z.literal("url_citation"),
        start_index: z.int(),
        end_index: z.int(),
        title: z.string(),
        url: z.string(),
      }),
    ),
    logprobs: z.array(tokenLogprobSchema()),
  });
  const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
  const call = {
    id: z.string(),
    status,
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional(),
  };
  return z.discriminatedUnion("type", [
    z.object({
      id: z.string(),
      type: z.literal("message"),
      status,
      role: z.literal("assistant"),
      content: z.array(z.union([text, refusal])),
    }),
    z.object({
      id: z.string(),
      type: z.literal("reasoning"),
      summary: z.array(z.object({ type: z.literal("summary_text"), text: z.string() })),
    }),
    z.object({
      id: z.string(),
      type: z.literal("web_search_call"),
      status: z.literal("completed"),
      action: z.object({
        type: z.literal("search"),
        query: z.string(),
        queries: z.array(z.string()),
        sources: z.array(z.object({ type: z.literal("url"), url: z.string() })),
      }),
    }),
    z.object({ ...call, type: z.literal("function_call"), arguments: z.string() }),
    z.object({ ...call, type: z.literal("custom_tool_call"), input: z.string() }),
  ]);
}

function usageSchema() {
  return z.object({
    input_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ reasoning_tokens: z.int() }),
    total_tokens: z.int(),
  });
}

/** The response object (docs/contract/answers.md, Stored response), in the full public shape of the real API. */
export function responseSchema() {
  return z.object({
    id: z.string().startsWith("resp_"),
    object: z.literal("response"),
    created_at: z.int(),
    background: z.literal(false),
    status: z.enum(["completed", "incomplete", "failed"]),
    completed_at: z.int().nullable(),
    error: z.object({ code: z.string(), message: z.string(), gateway_code: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
    usage: usageSchema().nullable(),
    output: z.array(outputItemSchema()),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    max_tool_calls: z.int().nullable(),
    model: z.string(),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }),
    safety_identifier: z.string().nullable(),
    service_tier: z.literal("default"),
    store: z.boolean(),
    temperature: z.number(),
    text: z.looseObject({ format: z.looseObject({}) }),
    tool_choice: z.unknown(),
    tools: z.array(z.unknown()),
    top_logprobs: z.int(),
    top_p: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    truncation: z.enum(["auto", "disabled"]),
    user: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
  });
}

/** A response, or the events of a streamed one (docs/contract/answers.md, Responses stream). */
export const responseAnswers = jsonOrEventStream(
  responseSchema,
  "From response.created to response.completed, response.incomplete or response.failed, then [DONE].",
);

/** Schema of the answer of `input_tokens`. */
export const tokenCountSchema = () =>
  z.object({ object: z.literal("response.input_tokens"), input_tokens: z.int() });

/** Schema of the answer of a deletion. */
export const deletedSchema = () =>
  z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) });

/** One page of input items: the caller's own items, in the form of the real API. */
export const inputItemsSchema = () =>
  z.object({
    object: z.literal("list"),
    data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });

/** A compacted conversation: the messages of users and developers, and one item that contains the summary. */
export const compactionSchema = () =>
  z.object({
    id: z.string().startsWith("resp_"),
    object: z.literal("response.compaction"),
    created_at: z.int(),
    output: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    usage: usageSchema(),
  });
