import * as z from "zod";
import type { ResponseSchemas } from "../../../core/routing/endpoint.ts";
import { tokenLogprobSchema } from "../shared/token-logprobs.ts";
import { JSON_LINES } from "./stream.ts";

/**
 * Schema of an answer: `own` has the fields of the endpoint. An answer that only loads or unloads a model has no counts.
 */
function answerSchema(ownFields: z.ZodRawShape) {
  const head = { model: z.string(), created_at: z.string(), ...ownFields, done: z.literal(true) };
  return z.union([
    z.object({
      ...head,
      logprobs: z.array(tokenLogprobSchema()).optional(),
      done_reason: z.enum(["stop", "length", "content_filter"]),
      total_duration: z.int(),
      load_duration: z.int(),
      prompt_eval_count: z.int(),
      prompt_eval_duration: z.int(),
      eval_count: z.int(),
      eval_duration: z.int(),
    }),
    z.object({ ...head, done_reason: z.enum(["load", "unload"]) }),
  ]);
}

function messageSchema() {
  const call = z.object({
    id: z.string(),
    function: z.object({ index: z.int(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  });
  return z.object({
    role: z.literal("assistant"),
    content: z.string(),
    thinking: z.string().optional(),
    tool_calls: z.array(call).optional(),
  });
}

/** An answer in one piece, or as JSON lines. */
function jsonOrLines(schema: () => z.ZodType): ResponseSchemas {
  return () => ({
    "application/json": schema(),
    [JSON_LINES]: { type: "string", description: "One JSON object a line; the last one has `done: true`." },
  });
}

/** The answer of `/api/chat`. */
export const chatAnswers = jsonOrLines(() => answerSchema({ message: messageSchema() }));

/** The answer of `/api/generate`. */
export const generateAnswers = jsonOrLines(() =>
  answerSchema({
    response: z.string(),
    thinking: z.string().optional(),
    context: z.array(z.unknown()).max(0),
  }),
);

const detailsSchema = () =>
  z.object({
    parent_model: z.string(),
    format: z.string(),
    family: z.string(),
    families: z.array(z.string()),
    parameter_size: z.string(),
    quantization_level: z.string(),
  });

const modelSchema = () =>
  z.object({
    name: z.string(),
    model: z.string(),
    size: z.int(),
    digest: z.string(),
    details: detailsSchema(),
  });

/** The list of models. */
export const tagsSchema = () =>
  z.object({
    models: z.array(modelSchema().extend({ modified_at: z.string(), capabilities: z.array(z.string()) })),
  });

/** The list of loaded models. */
export const runningSchema = () =>
  z.object({
    models: z.array(
      modelSchema().extend({ expires_at: z.string(), size_vram: z.int(), context_length: z.int() }),
    ),
  });

/** The description of a model. */
export const showAnswerSchema = () =>
  z.object({
    id: z.string(),
    model: z.string(),
    modified_at: z.string(),
    capabilities: z.array(z.string()),
    details: detailsSchema(),
    model_info: z.record(z.string(), z.unknown()),
    license: z.string(),
    modelfile: z.string(),
    parameters: z.string(),
    system: z.string(),
    template: z.string(),
  });
