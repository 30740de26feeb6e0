import * as z from "zod";
import type { HistorySummary } from "../../../core/ports/archive.ts";
import type {
  Capture,
  CaptureChain,
  CaptureSummary,
  Sample,
  SampleMeta,
} from "../../../core/ports/captures.ts";
import type { StoredParameter } from "../../../gateway/history/options-archive.ts";

/** Summary of one generation, for lists. Times are Unix milliseconds. */
export const historySummarySchema = () =>
  z.object({
    id: z.string(),
    created_at: z.int(),
    updated_at: z.int(),
    completed_at: z.int(),
    request_id: z.string(),
    key: z.string(),
    team: z.string().optional(),
    user: z.string().optional(),
    end_user: z.string().optional(),
    tags: z.array(z.string()).optional(),
    dialect: z.string(),
    /** The kind of work: `images`, `audio`, `moderations`, `rerank`, `realtime` or `embeddings`. Absent: a generation. */
    operation: z.string().optional(),
    requested_model: z.string(),
    model: z.string(),
    provider: z.string(),
    account: z.string(),
    attempts: z.int(),
    /** The accounts that failed, with the reason. */
    tried: z.array(
      z.object({
        account: z.string(),
        reason: z.string(),
        message: z.string(),
        at: z.int(),
        provider: z.string().optional(),
        model: z.string().optional(),
      }),
    ),
    /** All attempts in their order, with the causes of retries (`cause`; empty: the first). Absent in older records. */
    upstream_attempts: z
      .array(
        z.object({
          cause: z.string(),
          provider: z.string(),
          account: z.string(),
          model: z.string(),
          at: z.int(),
          /** Milliseconds; null while it runs. */
          ms: z.number().nullable(),
          status: z.int(),
          reason: z.string(),
        }),
      )
      .optional(),
    path: z.enum(["native", "translated"]).optional(),
    dropped_params: z.array(z.string()).optional(),
    unpriced: z.array(z.string()).optional(),
    /** The answer came from the response cache. Absent: no. */
    cached: z.boolean().optional(),
    /** In the unit of `prices`; null: the model had no price. */
    cost: z.number().nullable().optional(),
    /** Waits for an account's token: start (`at`) and length in milliseconds. */
    sign_ins: z.array(z.object({ account: z.string(), at: z.int(), ms: z.int() })),
    leased_at: z.int(),
    first_token_ms: z.int(),
    source: z.string(),
    stream: z.boolean(),
    thinking: z.boolean(),
    status: z.enum(["streaming", "success", "error", "cancelled"]),
    status_code: z.int(),
    error: z.string(),
    error_code: z.string().optional(),
    /** How many refused requests the record stands for. Absent: it is the record of a generation. */
    refusals: z.int().optional(),
    finish_reason: z.string(),
    called_functions: z.array(z.string()).optional(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    reasoning_tokens: z.int(),
    /** Details of the usage, as in `GET /admin/usage`. */
    cached_tokens: z.int(),
    cache_write_5m_tokens: z.int(),
    cache_write_1h_tokens: z.int(),
    audio_input_tokens: z.int(),
    audio_output_tokens: z.int(),
    image_input_tokens: z.int(),
    image_output_tokens: z.int(),
    audio_seconds: z.number(),
    search_units: z.int(),
    web_searches: z.int(),
    web_fetches: z.int(),
    elapsed_ms: z.int(),
    request_preview: z.string(),
    response_preview: z.string(),
  }) satisfies z.ZodType<HistorySummary>;

/** What the configuration says of a record, see `history-view.ts`. */
export const recordLabelsShape = () => ({
  key_name: z.string().nullable(),
  team_name: z.string().nullable(),
  cost: z.number().nullable(),
});

/** Messages of a record, as `src/gateway/history/message-archive.ts` writes them. */
function messageSchema() {
  const nameField = { filename: z.string().optional() };
  // An attachment is stored as a reference to its source. Only files have names.
  const attachments = [
    { media_type: z.string(), base64_length: z.int() },
    { url: z.string() },
    { file_id: z.string() },
  ].flatMap((source) => [
    z.object({ type: z.literal("image"), ...source }),
    z.object({ type: z.literal("file"), ...nameField, ...source }),
  ]);
  const parts = z.array(z.union([z.object({ type: z.literal("text"), text: z.string() }), ...attachments]));
  return z.discriminatedUnion("role", [
    z.object({ role: z.enum(["system", "user"]), parts }),
    z.object({
      role: z.literal("assistant"),
      reasoning: z.string().optional(),
      parts,
      tool_calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
    }),
    z.object({
      role: z.literal("tool"),
      call_id: z.string(),
      name: z.string().optional(),
      is_error: z.boolean().optional(),
      parts,
    }),
  ]);
}

/** The stored parameters of a request. */
const parameterSchemas = () =>
  ({
    temperature: z.number(),
    max_tokens: z.number(),
    top_p: z.number(),
    top_k: z.number(),
    min_p: z.number(),
    stop: z.array(z.string()),
    seed: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    repetition_penalty: z.number(),
    logit_bias: z.record(z.string(), z.number()),
    reasoning_effort: z.string(),
    thinking_budget: z.number(),
    verbosity: z.string(),
    prompt_cache_key: z.string(),
    logprobs: z.number(),
    n: z.number(),
    modalities: z.array(z.string()),
  }) satisfies Record<StoredParameter, z.ZodType>;

/** Tools and parameters of a request, as `src/gateway/history/options-archive.ts` writes them. */
const optionsSchema = () =>
  z.object({
    tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.looseObject({}) })),
    /** The tools were too long to store. */
    tools_omitted: z.boolean().optional(),
    tool_choice: z.union([z.string(), z.object({ function: z.string() })]).optional(),
    response_format: z
      .object({
        type: z.enum(["json", "json_schema"]),
        name: z.string().optional(),
        schema: z.looseObject({}).optional(),
        strict: z.boolean().optional(),
      })
      .optional(),
    parallel_tool_calls: z.boolean().optional(),
    /** Whether the request declared the vendor's web search. */
    web_search: z.boolean().optional(),
    ...z.object(parameterSchemas()).partial().shape,
  });

/** One generation with its full texts. `messages` and `options` are JSON, not text. */
export const historyRecordSchema = () =>
  historySummarySchema().extend({
    messages: z.array(messageSchema()),
    /** Null: a record of an older version, one that keeps no texts, or one whose options were too long. */
    options: optionsSchema().nullable(),
    prompt: z.string(),
    reasoning: z.string(),
    content: z.string(),
  });

/** Common fields of captures and their summaries. Times are Unix milliseconds. */
const captureShape = () => ({
  id: z.string(),
  at: z.int(),
  duration_ms: z.int(),
  request_id: z.string(),
  key: z.string(),
  chain_key: z.string(),
  label: z.string(),
  method: z.string(),
  url: z.string(),
  status: z.int(),
  outcome: z.enum(["complete", "cancelled", "error"]),
  error: z.string(),
  request_headers: z.record(z.string(), z.string()),
  response_headers: z.record(z.string(), z.string()),
  response_bytes: z.int(),
  truncated: z.boolean(),
});

/** One exchange with the upstream, with complete bodies. */
export const captureSchema = () =>
  z.object({
    ...captureShape(),
    request_body: z.string(),
    response_body: z.string(),
  }) satisfies z.ZodType<Capture>;

/** Summary of a capture, for lists. */
export const captureSummarySchema = () =>
  z.object({
    ...captureShape(),
    request_preview: z.string(),
    response_preview: z.string(),
  }) satisfies z.ZodType<CaptureSummary>;

/** The rounds of one generation (docs/contract/admin-history.md). */
export const captureChainSchema = () =>
  z.object({
    chain_key: z.string(),
    capture_ids: z.array(z.string()),
    round_count: z.int(),
    initial_label: z.string(),
    request_preview: z.string(),
    response_preview: z.string(),
  }) satisfies z.ZodType<CaptureChain>;

/** Metadata of a saved sample. `saved_at` is Unix milliseconds. */
export const sampleMetaSchema = () =>
  z.object({
    sample_id: z.string(),
    saved_at: z.int(),
    provider: z.string(),
    chain_key: z.string(),
    rounds: z.array(
      z.object({
        capture_id: z.string(),
        key: z.string().optional(),
        label: z.string(),
        status: z.int(),
        content_type: z.string(),
        outcome: z.enum(["complete", "cancelled", "error"]),
        request_body: z.string(),
        length: z.int(),
      }),
    ),
  }) satisfies z.ZodType<SampleMeta>;

/** A saved sample. */
export const sampleSchema = () =>
  z.object({ meta: sampleMetaSchema(), upstream: z.string() }) satisfies z.ZodType<Sample>;
