import * as z from "zod";
import type { Caller } from "../../../core/auth/callers.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { MAX_DIMENSIONS, MAX_INPUTS } from "../../embeddings/embed.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import type { ContentsQuery } from "../../providers/provider.ts";
import { answerEmbedding } from "../../response-cache/answer-embedding.ts";
import { contentSchema } from "./content.ts";
import { MODEL_PATHS } from "./endpoints.ts";
import { camelOrSnakeObject } from "./field-names.ts";
import { DIALECT_ID } from "./names.ts";
import { parseModelName } from "./request.ts";

/** A provider of this protocol gets all members. Elsewhere `taskType`, `title` and others have no effect. */
const embedSchema = camelOrSnakeObject(() => ({
  model: z.string().nullish(),
  content: contentSchema,
  outputDimensionality: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
}));

type EmbedRequest = z.output<typeof embedSchema>;

/** Returns the text of a content. */
const extractText = ({ content }: EmbedRequest): string =>
  (content.parts ?? []).flatMap(({ text }) => text ?? []).join("\n");

/**
 * Rejects contents that are more than a text.
 *
 * @throws GatewayError 400 for parts that are not text, and if there is no text at all.
 */
function assertText({ content }: EmbedRequest, fieldPath: string): void {
  const parts = content.parts ?? [];
  const media = parts.findIndex(({ text }) => typeof text !== "string");
  if (media >= 0) {
    throw invalidRequest(
      `${fieldPath}.parts[${media}] is no text: this model embeds only texts`,
      `${fieldPath}.parts`,
    );
  }
  if (parts.every(({ text }) => text === "")) throw invalidRequest(`${fieldPath} has no text`, fieldPath);
}

/** The members of an answer that the gateway has checked. */
interface EmbeddingAnswer {
  readonly embeddings: readonly { readonly values: readonly number[] }[];
  readonly usageMetadata: JsonObject;
}

/** Requests for one model in one body. */
interface EmbedRequests {
  readonly caller: Caller;
  /** The name of the model in the path. */
  readonly path: string;
  readonly verb: ContentsQuery["verb"];
  readonly requests: readonly EmbedRequest[];
  readonly getFieldPath: (index: number) => string;
  /** @param others the other members of the provider's answer */
  readonly render: (
    context: Context,
    answer: EmbeddingAnswer,
    others: JsonObject,
  ) => Response | Promise<Response>;
}

/** Embeds the contents of several requests for one model. */
async function embedRequests(
  context: Context,
  { caller, path, verb, requests, getFieldPath, render }: EmbedRequests,
): Promise<Response> {
  const model = await readWithModelNames(context, parseModelName(path), resolveModel, {
    dialect: DIALECT_ID,
    operation: "embeddings",
  });
  for (const [index, { model: requestModel }] of requests.entries()) {
    if (typeof requestModel === "string" && parseModelName(requestModel) !== parseModelName(path)) {
      throw invalidRequest(`${getFieldPath(index)}: model must be the model of the path`, "model");
    }
  }
  const sizes = [...new Set(requests.map(({ outputDimensionality }) => outputDimensionality ?? null))];
  const request = {
    context,
    caller,
    style: DIALECT_ID,
    model,
    inputs: requests.map(extractText),
    assertPlainInputs: () => {
      for (const [index, entry] of requests.entries()) assertText(entry, getFieldPath(index));
      if (sizes.length > 1) {
        throw invalidRequest("outputDimensionality must be the same in all requests", "outputDimensionality");
      }
    },
    field: getFieldPath(0),
    // If sizes differ, the largest counts for the limit of the answer.
    dimensions: sizes.includes(null) ? null : Math.max(...sizes.flatMap((size) => size ?? [])),
    stated: { protocol: "content-generation", verb, requests } as const,
  };
  return answerEmbedding(request, requests, (watched, { vectors, tokens, answer }) => {
    const embeddings = Array.from(vectors, (numbers) => ({ values: [...numbers] }));
    const usage = answer?.["usageMetadata"];
    const usageMetadata = { ...(isObject(usage) && usage), promptTokenCount: tokens };
    return render(watched, { embeddings, usageMetadata }, answer ?? {});
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
      caller,
      path: params["model"] ?? "",
      requests: [body],
      getFieldPath: () => "content",
      verb: "embedContent",
      render: (_, { embeddings: [embedding], usageMetadata }, others) =>
        Response.json({ embedding, ...others, usageMetadata }),
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
      caller,
      path: params["model"] ?? "",
      requests: body.requests,
      getFieldPath: (index) => `requests[${index}].content`,
      verb: "batchEmbedContents",
      render: (watched, answer, others) =>
        respondJsonWithinBudget(watched, { ...answer, ...others, usageMetadata: answer.usageMetadata }),
    }),
});
