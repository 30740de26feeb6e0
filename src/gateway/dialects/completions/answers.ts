import * as z from "zod";
import { jsonOrEventStream } from "../../../core/routing/event-stream-schemas.ts";
import { usageSchema } from "../chat-completions/answers.ts";
import { textLogprobsSchema } from "./logprobs.ts";

function textCompletionSchema() {
  const choice = z.object({
    text: z.string(),
    index: z.literal(0),
    logprobs: textLogprobsSchema().nullable(),
    finish_reason: z.enum(["stop", "length", "content_filter"]),
  });
  return z.object({
    id: z.string(),
    object: z.literal("text_completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choice),
    usage: usageSchema(),
  });
}

/** A text completion, or its chunks (docs/contract/answers.md, Text completion). */
export const textCompletionAnswers = jsonOrEventStream(
  textCompletionSchema,
  "Each is a text_completion with a part of the text; the last one is [DONE].",
);
