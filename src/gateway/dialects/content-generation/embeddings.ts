import * as z from "zod";
import type { Caller } from "../../../core/auth/callers.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { MAX_DIMENSIONS, MAX_INPUTS } from "../../embeddings/embed.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { answerEmbedding } from "../../response-cache/answer-embedding.ts";
import { contentSchema } from "./content.ts";
import { MODEL_PATHS } from "./endpoints.ts";
import { camelOrSnakeObject } from "./field-names.ts";
import { DIALECT_ID } from "./names.ts";
import { parseModelName } from "./request.ts";

/** Further members, such as `taskType` and `title`, reach a provider of this protocol, and have no effect elsewhere. */
const embedSchema = camelOrSnakeObject(() => ({
  model: z.string().nullish(),
  content: contentSchema,
  outputDimensionality: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
}));

type EmbedRequest = z.output<typeof embedSchema>;

/**
 * Returns the text of a content.
 *
 * @throws GatewayError 400 for parts that are not text, and if there is no text at all.
 */
function extractText({ content }: EmbedRequest, fieldPath: string): string {
  const parts = content.parts ?? [];
  const texts = parts.map(({ text }, index) => {
    if (typeof text === "string") return text;
    throw invalidRequest(
      `${fieldPath}.parts[${index}] is no text: only texts are embedded`,
      `${fieldPath}.parts`,
    );
  });
  if (texts.every((text) => text === "")) throw invalidRequest(`${fieldPath} has no text`, fieldPath);
  return texts.join("\n");
}

/** The vectors of a request, and what it used. */
interface EmbeddingAnswer {
  readonly embeddings: readonly { readonly values: readonly number[] }[];
  readonly usageMetadata: { readonly promptTokenCount: number };
}

/** Requests for one model in one body. */
interface EmbedRequests {
  readonly caller: Caller;
  /** The name of the model in the path. */
  readonly path: string;
  readonly requests: readonly EmbedRequest[];
  readonly getFieldPath: (index: number) => string;
  readonly render: (context: Context, answer: EmbeddingAnswer) => Response | Promise<Response>;
}

/** Embeds the texts of several requests for one model. All requests must have the same dimensions. */
async function embedRequests(
  context: Context,
  { caller, path, requests, getFieldPath, render }: EmbedRequests,
): Promise<Response> {
  const model = await readWithModelNames(context, parseModelName(path), resolveModel, {
    dialect: DIALECT_ID,
    operation: "embeddings",
  });
  const texts = requests.map((request, index) => {
    const requestModel = request.model;
    if (typeof requestModel === "string" && parseModelName(requestModel) !== parseModelName(path)) {
      throw invalidRequest(`${getFieldPath(index)}: model must be the model of the path`, "model");
    }
    return extractText(request, getFieldPath(index));
  });
  const sizes = new Set(requests.map(({ outputDimensionality }) => outputDimensionality ?? null));
  const [dimensions = null, ...otherSizes] = sizes;
  if (otherSizes.length > 0) {
    throw invalidRequest("outputDimensionality must be the same in all requests", "outputDimensionality");
  }
  const field = getFieldPath(0);
  const members = requests.map(
    ({ model: _model, content: _content, outputDimensionality: _dimensions, ...others }) => others,
  );
  const stated = { protocol: "content-generation", members } as const;
  const request = { context, caller, style: DIALECT_ID, model, inputs: texts, field, dimensions, stated };
  return answerEmbedding(request, requests, (watched, { vectors, tokens }) => {
    const embeddings = Array.from(vectors, (numbers) => ({ values: [...numbers] }));
    return render(watched, { embeddings, usageMetadata: { promptTokenCount: tokens } });
  });
}

const embeddingSchema = () => z.object({ values: z.array(z.number()) });
const usageSchema = () => z.object({ promptTokenCount: z.int() });

/** `POST /v1beta/models/{model}:embedContent`: embeds one content. */
export const embedContent = callerEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  verb: "embedContent",
  summary: "Create an embedding",
  acceptsIdempotencyKey: true,
  body: embedSchema,
  answers: jsonResponse(() => z.object({ embedding: embeddingSchema(), usageMetadata: usageSchema() })),
  handler: (context, { caller, body, params }) =>
    embedRequests(context, {
      ...{ caller, path: params["model"] ?? "", requests: [body] },
      getFieldPath: () => "content",
      render: (_, { embeddings: [embedding], usageMetadata }) => Response.json({ embedding, usageMetadata }),
    }),
});

/** `POST /v1beta/models/{model}:batchEmbedContents`: embeds several contents. */
export const batchEmbedContents = callerEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  verb: "batchEmbedContents",
  summary: "Create embeddings",
  acceptsIdempotencyKey: true,
  body: camelOrSnakeObject(() => ({ requests: z.array(embedSchema).min(1).max(MAX_INPUTS) })),
  answers: jsonResponse(() =>
    z.object({ embeddings: z.array(embeddingSchema()), usageMetadata: usageSchema() }),
  ),
  handler: (context, { caller, body, params }) =>
    embedRequests(context, {
      ...{ caller, path: params["model"] ?? "", requests: body.requests },
      getFieldPath: (index) => `requests[${index}].content`,
      render: respondJsonWithinBudget,
    }),
});
