import * as z from "zod";
import type { Answers } from "../../routing/endpoint.ts";
import { JSON_LINES } from "./stream.ts";

function answerSchema() {
  const call = z.object({
    id: z.string(),
    function: z.object({ index: z.int(), name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  });
  const message = z.object({
    role: z.literal("assistant"),
    content: z.string(),
    thinking: z.string().optional(),
    tool_calls: z.array(call).optional(),
  });
  return z.object({
    model: z.string(),
    created_at: z.string(),
    /** Of `/api/chat`. */
    message: message.optional(),
    /** Of `/api/generate`. */
    response: z.string().optional(),
    thinking: z.string().optional(),
    context: z.array(z.int()).optional(),
    done: z.literal(true),
    done_reason: z.enum(["stop", "length", "load", "unload"]),
    total_duration: z.int().optional(),
    load_duration: z.int().optional(),
    prompt_eval_count: z.int().optional(),
    prompt_eval_duration: z.int().optional(),
    eval_count: z.int().optional(),
    eval_duration: z.int().optional(),
  });
}

/** The answer of `/api/chat` and `/api/generate`, whole or as JSON lines. */
export const runnerAnswers: Answers = () => ({
  "application/json": answerSchema(),
  [JSON_LINES]: { type: "string", description: "One JSON object a line; the last one has `done: true`." },
});

const detailsSchema = () =>
  z.object({
    parent_model: z.string(),
    format: z.string(),
    family: z.string(),
    families: z.array(z.string()),
    parameter_size: z.string(),
    quantization_level: z.string(),
  });

/** The list of models. */
export const tagsSchema = () =>
  z.object({
    models: z.array(
      z.object({
        name: z.string(),
        model: z.string(),
        modified_at: z.string(),
        size: z.int(),
        digest: z.string(),
        details: detailsSchema(),
        capabilities: z.array(z.string()),
      }),
    ),
  });

/** What a model can do. */
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
