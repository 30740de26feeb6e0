import * as z from "zod";
import type { Conversation, Part } from "../../../core/conversation/conversation.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import type { ModelNameConfig } from "../../models/configured-models.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { chatRequestSchema } from "../chat-completions/request.ts";
import { documentedOptions } from "../shared/documented-options.ts";
import { optionalBoolean } from "../shared/field-schemas.ts";
import { getChatOptions, toGenerationOptions } from "../shared/generation-options.ts";
import { buildInsertionInstructions } from "../shared/insertion-prompt.ts";
import { DIALECT_ID } from "./names.ts";

const ONE_PROMPT = "must be one text, as a string or an array of one string";
/** Maximum number of alternatives per token that a request can ask for. */
const MAX_TOP_LOGPROBS = 20;
const ONE_ANSWER = "must be 1: a request has one answer";

/**
 * The body of `POST /v1/completions` (docs/contract/generations.md). Unsupported fields that would change the answer
 * are rejected. Unknown fields are accepted and ignored; `user`, `logit_bias` and the penalties are passed on, as in
 * the chat-completions style.
 */
export const completionRequestSchema = lazyLooseObject(() => ({
  ...chatRequestSchema.pick({
    model: true,
    stream: true,
    stream_options: true,
    temperature: true,
    top_p: true,
    stop: true,
    max_tokens: true,
    seed: true,
  }).shape,
  prompt: z.union([z.string(), z.tuple([z.string()])], ONE_PROMPT),
  suffix: z.string().nullish(),
  echo: optionalBoolean,
  n: z.literal(1, ONE_ANSWER).nullish(),
  best_of: z.literal([0, 1], ONE_ANSWER).nullish(),
  logprobs: z.int().min(0).max(MAX_TOP_LOGPROBS).nullish(),
}));

/** The body in the OpenAPI document, with the options that are not checked. */
export const documentedCompletionRequest = lazyLooseObject(() => ({
  ...completionRequestSchema.shape,
  ...documentedOptions(),
}));

export type CompletionRequest = z.output<typeof completionRequestSchema>;

const CONTINUE_INSTRUCTION =
  "Continue the user's text from exactly where it ends. Write the continuation alone, beginning with white space where " +
  "it needs some: do not repeat the text, comment on it or address the user.";

const toTextParts = (value: string): Part[] => (value === "" ? [] : [{ type: "text", text: value }]);

/** Builds the system message that asks the model to continue a text, up to `suffix` if there is one. */
function buildInstructions(suffix: string): Part[] {
  return suffix === "" ? toTextParts(CONTINUE_INSTRUCTION) : buildInsertionInstructions(suffix);
}

function getPrompt({ prompt }: CompletionRequest): string {
  return typeof prompt === "string" ? prompt : prompt[0];
}

/** Returns the prompt if the answer must repeat it before the model's own text, else an empty string. */
export function getEchoedPrompt(body: CompletionRequest): string {
  return body.echo === true ? getPrompt(body) : "";
}

/**
 * Translates a text-completions request. The prompt becomes the only user message. Thinking is off, because the style has
 * no field for reasoning.
 *
 * @throws GatewayError 400 for an unknown model.
 */
export function toConversation(body: CompletionRequest, nameConfig: ModelNameConfig): Conversation {
  return {
    dialect: DIALECT_ID,
    contentField: "prompt",
    model: resolveModel(body.model, nameConfig),
    messages: [
      { role: "system", parts: buildInstructions(body.suffix ?? "") },
      { role: "user", parts: toTextParts(getPrompt(body)) },
    ],
    tools: [],
    toolChoice: { type: "none" },
    parallelToolCalls: true,
    thinking: false,
    showReasoning: false,
    options: toGenerationOptions({
      ...getChatOptions(body),
      maxTokens: body.max_tokens,
      logprobs: body.logprobs,
    }),
    responseFormat: { type: "text" },
    stream: body.stream ?? false,
  };
}
