import * as z from "zod";
import { EMBEDDINGS_STYLE } from "../../core/config/styles.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { once } from "../../core/encoding/once.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { respondJsonWithinBudget } from "../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { MAX_DIMENSIONS, MAX_INPUTS } from "../embeddings/embed.ts";
import type { EmbeddingInput } from "../embeddings/embedding-request.ts";
import { vectorToBase64 } from "../embeddings/vectors.ts";
import { readWithModelNames } from "../models/read-with-model-names.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { answerEmbedding } from "../response-cache/answer-embedding.ts";

const tokensSchema = once(() => z.array(z.number().int().nonnegative()).min(1));

/** The body of `POST /v1/embeddings` (docs/contract/other-endpoints.md). */
const embeddingsRequestSchema = lazyLooseObject(() => ({
  model: z.string().min(1),
  input: z.union([
    z.string(),
    tokensSchema(),
    z.array(z.string()).min(1).max(MAX_INPUTS),
    z.array(tokensSchema()).min(1).max(MAX_INPUTS),
  ]),
  dimensions: z.number().int().min(1).max(MAX_DIMENSIONS).nullish(),
  encoding_format: z.enum(["float", "base64"]).nullish(),
}));

/**
 * Converts `input` into a list of inputs.
 *
 * @throws GatewayError 400 for an empty text.
 */
function parseInputs(input: z.output<typeof embeddingsRequestSchema>["input"]): readonly EmbeddingInput[] {
  const single = tokensSchema().safeParse(input);
  if (single.success) return [single.data];
  const inputs = typeof input === "string" ? [input] : input;
  return inputs.map((entry, index) => {
    const fieldPath = typeof input === "string" ? "input" : `input[${index}]`;
    if (entry === "") throw invalidRequest(`${fieldPath} must not be an empty string`, fieldPath);
    return typeof entry === "number" ? [entry] : entry;
  });
}

const answerSchema = () =>
  z.object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  });

/**
 * `POST /v1/embeddings` (docs/contract/other-endpoints.md). Answers 501 unless `embeddings.provider` names a supported
 * provider. `model` of the answer is the name that the caller requested.
 */
export const createEmbeddings = callerEndpoint({
  method: "POST",
  path: ["/v1/embeddings", "/embeddings"],
  summary: "Create embeddings",
  acceptsIdempotencyKey: true,
  body: embeddingsRequestSchema,
  answers: jsonResponse(answerSchema),
  handler: async (context, { caller, body }) => {
    const model = await readWithModelNames(context, body.model, resolveModel, {
      dialect: EMBEDDINGS_STYLE,
      operation: "embeddings",
    });
    const { model: _model, input, dimensions, encoding_format: _format, ...members } = body;
    const request = {
      ...{ context, caller, style: EMBEDDINGS_STYLE, model },
      inputs: parseInputs(input),
      field: "input",
      dimensions: dimensions ?? null,
      stated: { protocol: "embeddings", members } as const,
    };
    return answerEmbedding(request, body, (watched, { vectors, tokens }) => {
      const data = Array.from(vectors, (vector, index) => ({
        object: "embedding",
        index,
        embedding: body.encoding_format === "base64" ? vectorToBase64(vector) : [...vector],
      }));
      const usage = { prompt_tokens: tokens, total_tokens: tokens };
      return respondJsonWithinBudget(watched, { object: "list", data, model: model.requested, usage });
    });
  },
});
