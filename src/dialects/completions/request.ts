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
/** Alternatives of a token that can be asked for. */
const MAX_ALTERNATIVES = 20;
const ONE_ANSWER = "must be 1: a request has one answer";

/**
 * The body of `POST /v1/completions` (contract). What would change the answer and cannot be done is refused. Fields that
 * change nothing here (user, logit_bias, penalties and the like) are accepted and ignored, as in the chat style.
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

/** What the model is told of a text that it is to continue, up to `suffix` if there is one. */
function instructions(suffix: string): Part[] {
  return suffix === "" ? text(CONTINUE) : insertionBefore(suffix);
}

function promptOf({ prompt }: CompletionRequest): string {
  return typeof prompt === "string" ? prompt : prompt[0];
}

/** What the answer begins with, before the model's own text. */
export function echoOf(body: CompletionRequest): string {
  return body.echo === true ? promptOf(body) : "";
}

/**
 * Translates a text-completions request: the prompt is the user's one message. The model does not think, as the style has
 * no place for reasoning.
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
