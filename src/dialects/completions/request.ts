import * as z from "zod";
import type { Conversation, Part } from "../../conversation/conversation.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import type { Naming } from "../../models/naming.ts";
import { resolveModel } from "../../models/resolve.ts";
import { chatRequestSchema } from "../chat-completions/request.ts";
import { optionalBoolean } from "../shared/fields.ts";
import { insertionBefore } from "../shared/insertion.ts";
import { chatOptions, samplingOf } from "../shared/sampling.ts";
import { ID } from "./names.ts";

const ONE_PROMPT = "must be one text, as a string or an array of one string";
/** Maximum number of alternatives per token that a request can ask for. */
const MAX_ALTERNATIVES = 20;
const ONE_ANSWER = "must be 1: a request has one answer";

/**
 * The body of `POST /v1/completions` (contract). Unsupported fields that would change the answer are rejected. Unknown
 * fields are accepted and ignored; `user`, `logit_bias` and the penalties are passed on, as in the chat-completions style.
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
  logprobs: z.int().min(0).max(MAX_ALTERNATIVES).nullish(),
}));

export type CompletionRequest = z.output<typeof completionRequestSchema>;

const CONTINUE =
  "Continue the user's text from exactly where it ends. Write the continuation alone, beginning with white space where " +
  "it needs some: do not repeat the text, comment on it or address the user.";

const text = (value: string): Part[] => (value === "" ? [] : [{ type: "text", text: value }]);

/** Builds the system message that asks the model to continue a text, up to `suffix` if there is one. */
function instructions(suffix: string): Part[] {
  return suffix === "" ? text(CONTINUE) : insertionBefore(suffix);
}

function promptOf({ prompt }: CompletionRequest): string {
  return typeof prompt === "string" ? prompt : prompt[0];
}

/** Returns the prompt if the answer must repeat it before the model's own text, else an empty string. */
export function echoOf(body: CompletionRequest): string {
  return body.echo === true ? promptOf(body) : "";
}

/**
 * Translates a text-completions request. The prompt becomes the only user message. Thinking is off, because the style has
 * no field for reasoning.
 *
 * @throws GatewayError 400 for an unknown model.
 */
export function toConversation(body: CompletionRequest, naming: Naming): Conversation {
  return {
    dialect: ID,
    contentField: "prompt",
    model: resolveModel(body.model, naming),
    messages: [
      { role: "system", parts: instructions(body.suffix ?? "") },
      { role: "user", parts: text(promptOf(body)) },
    ],
    tools: [],
    toolChoice: { type: "none" },
    parallelToolCalls: true,
    thinking: false,
    showReasoning: false,
    sampling: samplingOf({
      ...chatOptions(body),
      maxTokens: body.max_tokens,
      logprobs: body.logprobs,
    }),
    responseFormat: { type: "text" },
    stream: body.stream ?? false,
  };
}
