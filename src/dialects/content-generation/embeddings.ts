import * as z from "zod";
import type { Caller } from "../../auth/callers.ts";
import { MAX_DIMENSIONS, MAX_INPUTS, vectorsOf } from "../../embeddings/embed.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { byNames } from "../../models/by-names.ts";
import { resolveModel } from "../../models/resolve.ts";
import type { Context } from "../../platform/context.ts";
import { forCallers, json } from "../../routing/endpoint.ts";
import { heldJson } from "../../routing/held-answer.ts";
import { contentSchema } from "./content.ts";
import { PATHS } from "./endpoints.ts";
import { styled } from "./field-names.ts";
import { ID } from "./names.ts";
import { modelName } from "./request.ts";

/** The fields `taskType` and `title` are accepted without effect. */
const embedSchema = styled(() => ({
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
function textOf({ content }: EmbedRequest, where: string): string {
  const parts = content.parts ?? [];
  const texts = parts.map(({ text }, index) => {
    if (typeof text === "string") return text;
    throw invalidRequest(`${where}.parts[${index}] is no text: only texts are embedded`, `${where}.parts`);
  });
  if (texts.every((text) => text === "")) throw invalidRequest(`${where} has no text`, where);
  return texts.join("\n");
}

/** Embeds the texts of several requests for one model. All requests must have the same dimensions. */
async function embedded(
  context: Context,
  caller: Caller,
  path: string,
  requests: readonly EmbedRequest[],
  whereOf: (index: number) => string,
) {
  const model = await byNames(context, modelName(path), resolveModel, {
    dialect: ID,
    operation: "embeddings",
  });
  const texts = requests.map((request, index) => {
    const own = request.model;
    if (typeof own === "string" && modelName(own) !== modelName(path)) {
      throw invalidRequest(`${whereOf(index)}: model must be the model of the path`, "model");
    }
    return textOf(request, whereOf(index));
  });
  const sizes = new Set(requests.map(({ outputDimensionality }) => outputDimensionality ?? null));
  const [dimensions = null, ...others] = sizes;
  if (others.length > 0) {
    throw invalidRequest("outputDimensionality must be the same in all requests", "outputDimensionality");
  }
  const field = whereOf(0);
  const { vectors, tokens } = await vectorsOf({
    context,
    caller,
    style: ID,
    model,
    inputs: texts,
    field,
    dimensions,
  });
  const embeddings = Array.from(vectors, (numbers) => ({ values: [...numbers] }));
  return { embeddings, usageMetadata: { promptTokenCount: tokens } };
}

const embeddingSchema = () => z.object({ values: z.array(z.number()) });
const usageSchema = () => z.object({ promptTokenCount: z.int() });

/** `POST /v1beta/models/{model}:embedContent`: embeds one content. */
export const embedContent = forCallers({
  method: "POST",
  path: PATHS,
  verb: "embedContent",
  summary: "Create an embedding",
  body: embedSchema,
  answers: json(() => z.object({ embedding: embeddingSchema(), usageMetadata: usageSchema() })),
  takesAccount: true,
  handler: async (context, { caller, body, params }) => {
    const { embeddings, usageMetadata } = await embedded(
      context,
      caller,
      params["model"] ?? "",
      [body],
      () => "content",
    );
    return Response.json({ embedding: embeddings[0], usageMetadata });
  },
});

/** `POST /v1beta/models/{model}:batchEmbedContents`: embeds several contents. */
export const batchEmbedContents = forCallers({
  method: "POST",
  path: PATHS,
  verb: "batchEmbedContents",
  summary: "Create embeddings",
  body: styled(() => ({ requests: z.array(embedSchema).min(1).max(MAX_INPUTS) })),
  answers: json(() => z.object({ embeddings: z.array(embeddingSchema()), usageMetadata: usageSchema() })),
  takesAccount: true,
  handler: async (context, { caller, body, params }) =>
    heldJson(
      context,
      await embedded(
        context,
        caller,
        params["model"] ?? "",
        body.requests,
        (index) => `requests[${index}].content`,
      ),
    ),
});
