import * as z from "zod";
import { EMBEDDINGS_STYLE } from "../../core/config/styles.ts";
import { encodeFloats } from "../../core/encoding/floats.ts";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { hasMemberInAnyCase } from "../../core/encoding/json-splice.ts";
import { lazyLooseObject } from "../../core/encoding/lazy-schema.ts";
import { once } from "../../core/encoding/once.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { respondJsonWithinBudget } from "../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { OTHER_MODEL_MEMBERS } from "../dialects/chat-completions/native.ts";
import { MAX_DIMENSIONS, MAX_INPUTS } from "../embeddings/embed.ts";
import type { EmbeddingInput } from "../embeddings/embedding-request.ts";
import { type IsModelAllowed, namesForbiddenModel } from "../generation/native/named-models.ts";
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
    // Objects have media, for example `{"image": "https://…"}`: the provider knows their form.
    z
      .array(z.union([z.string(), lazyLooseObject(() => ({}))]))
      .min(1)
      .max(MAX_INPUTS),
    z.array(tokensSchema()).min(1).max(MAX_INPUTS),
  ]),
  dimensions: z.number().int().min(1).max(MAX_DIMENSIONS).nullish(),
  encoding_format: z.enum(["float", "base64"]).nullish(),
}));

/**
 * Converts `input` into a list of inputs. Media become their texts, which count for the estimate of tokens.
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
    if (typeof entry === "number") return [entry];
    return isObject(entry) ? joinTexts(entry) : entry;
  });
}

function joinTexts(media: JsonObject): string {
  const texts = Object.values(media).filter((value) => typeof value === "string");
  return texts.join("\n");
}

/**
 * Rejects inputs that are more than a text or tokens.
 *
 * @throws GatewayError 400
 */
function assertPlainInputs(input: z.output<typeof embeddingsRequestSchema>["input"]): void {
  if (typeof input === "string") return;
  const media = input.findIndex(isObject);
  if (media >= 0) throw invalidRequest(`input[${media}] is no text: this model embeds only texts`, "input");
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
    const { model: _model, ...stated } = body;
    const request = {
      context,
      caller,
      style: EMBEDDINGS_STYLE,
      model,
      inputs: parseInputs(body.input),
      assertPlainInputs: () => assertPlainInputs(body.input),
      namesOtherModels: (isAllowed: IsModelAllowed) => {
        const text = JSON.stringify(stated);
        return (
          hasMemberInAnyCase(text, OTHER_MODEL_MEMBERS) || namesForbiddenModel(text, ["input"], isAllowed)
        );
      },
      field: "input",
      dimensions: body.dimensions ?? null,
      stated: { protocol: "embeddings", body: stated } as const,
    };
    const isBase64 = body.encoding_format === "base64";
    return answerEmbedding(request, body, (watched, { vectors, tokens, answer }) => {
      const entries = listEntries(answer);
      const data = Array.from(vectors, (vector, index) => {
        const entry = entries.get(index);
        const sent = entry?.["embedding"];
        // An engine may ignore the format that was requested.
        const base64 = () => (typeof sent === "string" ? sent : encodeFloats(vector));
        return { object: "embedding", index, ...entry, embedding: isBase64 ? base64() : [...vector] };
      });
      const usage = { prompt_tokens: tokens, total_tokens: tokens, ...readUsage(answer, tokens) };
      const list = { object: "list", ...answer, data, model: model.requested, usage };
      return respondJsonWithinBudget(watched, list);
    });
  },
});

/** The entries of a provider's answer, by their inputs. */
function listEntries(answer: JsonObject | null): ReadonlyMap<number, JsonObject> {
  const data: readonly unknown[] = Array.isArray(answer?.["data"]) ? answer["data"] : [];
  return new Map(
    data.filter(isObject).map((entry, position) => {
      const { index = position } = entry;
      return [typeof index === "number" ? index : position, entry];
    }),
  );
}

/** The usage that the provider states, unless the gateway replaced its count by an estimate. */
function readUsage(answer: JsonObject | null, tokens: number): JsonObject {
  const usage = answer?.["usage"];
  return isObject(usage) && usage["prompt_tokens"] === tokens ? usage : {};
}
