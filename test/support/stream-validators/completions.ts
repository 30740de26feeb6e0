import { z } from "zod";
import { toUsage, untilDone, usageSchema } from "./chat-completions.ts";
import { type CanonicalCompletion, rule, type ValidStream } from "./completion.ts";

const finishReason = z.enum(["stop", "length", "content_filter"]);

const choiceSchema = z.strictObject({
  text: z.string(),
  index: z.literal(0),
  logprobs: z.null(),
  finish_reason: finishReason.nullable(),
});

const chunkSchema = z.strictObject({
  id: z.string().startsWith("cmpl-"),
  object: z.literal("text_completion"),
  created: z.int().positive(),
  model: z.string().min(1),
  choices: z.array(choiceSchema).max(1),
  usage: usageSchema.optional(),
});

const wholeSchema = chunkSchema.extend({
  choices: z.tuple([choiceSchema.extend({ finish_reason: finishReason })]),
  usage: usageSchema,
});

/** State of a completion while its chunks arrive. */
class CompletionCheck {
  #text = "";
  #finish: CanonicalCompletion["finish"] = null;
  #usage: CanonicalCompletion["usage"] = null;
  readonly #heads = new Set<string>();

  take(chunk: z.output<typeof chunkSchema>): void {
    this.#heads.add(`${chunk.id} ${chunk.created} ${chunk.model}`);
    rule(this.#heads.size === 1, "all chunks have the same id, created and model", chunk);
    const [choice] = chunk.choices;
    rule((choice === undefined) === (chunk.usage !== undefined), "usage has a chunk of its own", chunk);
    if (chunk.usage !== undefined) {
      rule(this.#finish !== null && this.#usage === null, "usage comes once, after the finish", chunk);
      this.#usage = toUsage(chunk.usage);
    }
    if (choice === undefined) return;
    rule(this.#finish === null, "no choice follows the finish", chunk);
    rule((choice.text === "") === (choice.finish_reason !== null), "only the last has no text", chunk);
    this.#text += choice.text;
    this.#finish = choice.finish_reason;
  }

  completion(error: string | null): CanonicalCompletion {
    rule((error === null) === (this.#finish !== null), "a stream ends with a finish or with an error");
    return {
      text: this.#text,
      reasoning: "",
      toolCalls: [],
      finish: this.#finish,
      usage: this.#usage,
      error,
    };
  }
}

/** Checks a text-completions stream against every rule of its dialect. Throws with the violated rule. */
export function validateCompletionsStream(text: string): ValidStream {
  const check = new CompletionCheck();
  const { events, error } = untilDone(text, (chunk) => check.take(chunkSchema.parse(chunk)));
  return { events, completion: check.completion(error) };
}

/** Converts a non-streamed text completion to the canonical form. Throws if it violates a rule of its dialect. */
export function canonicalTextCompletion(body: unknown): CanonicalCompletion {
  const { choices, usage } = wholeSchema.parse(body);
  const [{ text, finish_reason: finish }] = choices;
  return { text, reasoning: "", toolCalls: [], finish, usage: toUsage(usage), error: null };
}
