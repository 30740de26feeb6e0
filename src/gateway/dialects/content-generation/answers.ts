import * as z from "zod";
import { jsonResponse } from "../../../core/routing/endpoint.ts";
import { eventStreamOnly } from "../../../core/routing/event-stream-schemas.ts";
import { groundingSchema } from "./grounding.ts";

function responseSchema() {
  const functionCall = z.object({
    id: z.string(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  });
  const part = z.union([
    z.object({ text: z.string(), thought: z.literal(true).optional() }),
    z.object({ functionCall }),
  ]);
  const likely = z.object({ token: z.string(), logProbability: z.number() });
  const candidate = z.object({
    content: z.object({ role: z.literal("model"), parts: z.array(part).min(1) }),
    finishReason: z.enum(["STOP", "MAX_TOKENS", "SAFETY"]),
    index: z.literal(0),
    avgLogprobs: z.number().optional(),
    logprobsResult: z
      .object({
        chosenCandidates: z.array(likely),
        topCandidates: z.array(z.object({ candidates: z.array(likely) })),
      })
      .optional(),
    groundingMetadata: groundingSchema().optional(),
  });
  const modalities = () =>
    z.array(z.object({ modality: z.enum(["TEXT", "AUDIO"]), tokenCount: z.int() })).optional();
  const usage = z.object({
    promptTokenCount: z.int(),
    candidatesTokenCount: z.int(),
    totalTokenCount: z.int(),
    thoughtsTokenCount: z.int().optional(),
    cachedContentTokenCount: z.int().optional(),
    promptTokensDetails: modalities(),
    candidatesTokensDetails: modalities(),
  });
  return z.object({
    candidates: z.array(candidate),
    usageMetadata: usage,
    modelVersion: z.string(),
    responseId: z.string(),
  });
}

/** A response (docs/contract/answers.md, Content-generation-style response). */
export const contentAnswers = jsonResponse(responseSchema);

/** The chunks of a streamed response (docs/contract/answers.md, Content-generation stream). */
export const contentStreamAnswers = eventStreamOnly("Each is a response with the parts that are new.");

/** Schema of the answer of `:countTokens`. */
export const totalTokensSchema = () => z.object({ totalTokens: z.int() });

/** A model of the content-generation style. */
export const contentModelSchema = () =>
  z.object({
    name: z.string(),
    baseModelId: z.string(),
    version: z.string(),
    displayName: z.string(),
    description: z.string(),
    inputTokenLimit: z.int(),
    outputTokenLimit: z.int(),
    supportedGenerationMethods: z.array(z.string()),
    thinking: z.boolean(),
  });

/** List of models of the content-generation style. */
export const contentModelsSchema = () =>
  z.object({ models: z.array(contentModelSchema()), nextPageToken: z.string().optional() });
