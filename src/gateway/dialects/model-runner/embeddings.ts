import * as z from "zod";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { MAX_DIMENSIONS, MAX_INPUTS } from "../../embeddings/embed.ts";
import { answerEmbedding } from "../../response-cache/answer-embedding.ts";
import { resolveRunnerModel } from "./models.ts";
import { DIALECT_ID } from "./names.ts";

const vector = () => z.array(z.number());

/** `truncate`, `options` and `keep_alive` have no effect here. A request without `input` only loads the model. */
const embedSchema = lazyLooseObject(() => ({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(z.string()).max(MAX_INPUTS)]).nullish(),
  dimensions: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
}));

const embedAnswer = () =>
  z.object({
    model: z.string(),
    embeddings: z.array(vector()),
    total_duration: z.int(),
    load_duration: z.int(),
    prompt_eval_count: z.int(),
  });

/** `POST /api/embed`: vectors of unit length, one for each text. */
export const runnerEmbed = callerEndpoint({
  method: "POST",
  path: "/api/embed",
  summary: "Create embeddings",
  acceptsIdempotencyKey: true,
  body: embedSchema,
  answers: jsonResponse(embedAnswer),
  handler: async (context, { caller, body }) => {
    const model = await resolveRunnerModel(context, body.model, "embeddings");
    const inputs = typeof body.input === "string" ? [body.input] : (body.input ?? []);
    const request = {
      context,
      caller,
      style: DIALECT_ID,
      model,
      inputs: inputs.length === 1 && inputs[0] === "" ? [] : inputs,
      field: "input",
      dimensions: body.dimensions ?? null,
    };
    return answerEmbedding(request, body, (watched, { vectors, tokens }) =>
      respondJsonWithinBudget(watched, {
        model: model.requested,
        embeddings: Array.from(vectors, (numbers) => [...numbers]),
        total_duration: Math.max(1, context.platform.now() - context.startedAt) * 1_000_000,
        load_duration: 0,
        prompt_eval_count: tokens,
      }),
    );
  },
});

/** `POST /api/embeddings`, the predecessor of `/api/embed`: embeds one prompt. */
export const runnerEmbeddings = callerEndpoint({
  method: "POST",
  path: "/api/embeddings",
  summary: "Create one embedding",
  acceptsIdempotencyKey: true,
  body: lazyLooseObject(() => ({ model: z.string().min(1), prompt: z.string().nullish() })),
  answers: jsonResponse(() => z.object({ embedding: vector() })),
  handler: async (context, { caller, body }) => {
    const request = {
      context,
      caller,
      style: DIALECT_ID,
      model: await resolveRunnerModel(context, body.model, "embeddings"),
      inputs: body.prompt ? [body.prompt] : [],
      field: "prompt",
      dimensions: null,
    };
    return answerEmbedding(request, body, (_, { vectors: [first = []] }) =>
      Response.json({ embedding: [...first] }),
    );
  },
});
