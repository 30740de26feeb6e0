import { z } from "zod";
import { checkPublishedChunk } from "../published.ts";
import {
  anyObject,
  argumentsOf,
  type CanonicalCompletion,
  endsAsCalled,
  itemsOf,
  rule,
  type ValidStream,
  wasCut,
  wholeArguments,
} from "./completion.ts";

const count = z.int().nonnegative();
const finishReason = z.enum(["stop", "tool_calls", "length", "content_filter"]);

/** `usage` of this style and of text completions. */
export const usageSchema = z.looseObject({
  prompt_tokens: count.positive(),
  completion_tokens: count,
  total_tokens: count,
  completion_tokens_details: z.looseObject({ reasoning_tokens: count }),
});

const toolDeltaSchema = z.strictObject({
  index: count,
  id: z.string().min(1).optional(),
  type: z.literal("function").optional(),
  function: z.strictObject({ name: z.string().min(1).optional(), arguments: z.string() }),
});

const chunkSchema = z.strictObject({
  id: z.string().min(1),
  object: z.literal("chat.completion.chunk"),
  created: z.int().positive(),
  model: z.string().min(1),
  choices: z
    .array(
      z.strictObject({
        index: z.literal(0),
        delta: z.strictObject({
          role: z.literal("assistant").optional(),
          content: z.string().nullish(),
          refusal: z.string().min(1).optional(),
          reasoning_content: z.string().min(1).optional(),
          tool_calls: z.array(toolDeltaSchema).length(1).optional(),
        }),
        logprobs: z.strictObject({ content: z.array(z.looseObject({})), refusal: z.null() }).optional(),
        finish_reason: finishReason.nullable(),
      }),
    )
    .max(1),
  usage: usageSchema.nullish(),
});

const errorSchema = z.strictObject({
  error: z.looseObject({ message: z.string().min(1), type: z.string().min(1), code: z.string().min(1) }),
});

type Chunk = z.output<typeof chunkSchema>;

/** Checks that the counts add up. */
export function toUsage(usage: z.output<typeof usageSchema>): { prompt: number; completion: number } {
  rule(usage.total_tokens === usage.prompt_tokens + usage.completion_tokens, "the counts add up", usage);
  return { prompt: usage.prompt_tokens, completion: usage.completion_tokens };
}

/** State of a completion while its chunks arrive. */
class ChatCheck {
  #text = "";
  #refusal = "";
  #reasoning = "";
  #role = false;
  /** Whether the delta with the role had no content. The next delta shows whether that was correct. */
  #silent: boolean | null = null;
  #finish: CanonicalCompletion["finish"] = null;
  #usage: CanonicalCompletion["usage"] = null;
  readonly #calls: { id: string; name: string; text: string }[] = [];
  readonly #heads = new Set<string>();

  take(chunk: Chunk): void {
    this.#heads.add(`${chunk.id} ${chunk.created} ${chunk.model}`);
    rule(this.#heads.size === 1, "all chunks have the same id, created and model", chunk);
    const [choice] = chunk.choices;
    if (choice === undefined) {
      rule(this.#finish !== null, "a chunk without choices comes after the finish", chunk);
      rule(!!chunk.usage, "a chunk without choices has usage", chunk);
      rule(this.#usage === null, "usage comes once", chunk);
      this.#usage = toUsage(chunk.usage);
      return;
    }
    rule(this.#finish === null, "no choice follows the finish", chunk);
    this.#delta(choice.delta);
    if (choice.finish_reason === null) return;
    rule(Object.keys(choice.delta).length === 0, "the final chunk has an empty delta", chunk);
    if (chunk.usage) this.#usage = toUsage(chunk.usage);
    this.#finish = choice.finish_reason;
    if (!wasCut(this.#finish)) endsAsCalled(this.#finish, this.#calls.length);
  }

  #delta(delta: Chunk["choices"][number]["delta"]): void {
    if (delta.role !== undefined) rule(!this.#role, "the role comes once", delta);
    if (!this.#role) rule(delta.role !== undefined, "the role comes first", delta);
    const speaks = delta.reasoning_content !== undefined || delta.tool_calls !== undefined;
    if (!this.#role) this.#silent = delta.content === null;
    else if (this.#silent !== null) {
      rule(this.#silent || !speaks, "content is null until text comes", delta);
      this.#silent = null;
    }
    this.#role = true;
    this.#text += delta.content ?? "";
    this.#refusal += delta.refusal ?? "";
    this.#reasoning += delta.reasoning_content ?? "";
    for (const tool of delta.tool_calls ?? []) {
      const known = this.#calls[tool.index];
      if (known === undefined) {
        rule(tool.index === this.#calls.length, "indices count up without a gap", tool);
        const { id, type, function: named } = tool;
        rule(!!id && !!type && !!named.name, "the first delta of a call has id, type and name", tool);
        rule(!this.#calls.some((call) => call.id === id), "calls have distinct ids", tool);
        this.#calls.push({ id, name: named.name, text: named.arguments });
      } else {
        rule(tool.index === this.#calls.length - 1, "one call is filled at a time", tool);
        rule(tool.id === undefined && tool.function.name === undefined, "id and name come once", tool);
        known.text += tool.function.arguments;
      }
    }
  }

  /** Returns the complete calls. If the answer was cut off, the last call may be a fragment. */
  #whole(failed: boolean): CanonicalCompletion["toolCalls"] {
    const calls = this.#calls.slice(0, failed ? -1 : undefined);
    return calls.flatMap(({ name, text }, index) => {
      const open = wasCut(this.#finish) && index === calls.length - 1;
      const found = open ? wholeArguments(text) : argumentsOf(text);
      return found === null ? [] : [{ name, arguments: found }];
    });
  }

  completion(error: string | null): CanonicalCompletion {
    rule((error === null) === (this.#finish !== null), "a stream ends with a finish or with an error");
    rule(error !== null || this.#usage !== null, "a stream that finishes has usage");
    return {
      text: this.#text,
      ...(this.#refusal === "" ? {} : { refusal: this.#refusal }),
      reasoning: this.#reasoning,
      toolCalls: this.#whole(error !== null),
      finish: this.#finish,
      usage: this.#usage,
      error,
    };
  }
}

/**
 * Parses a stream that ends with `[DONE]` or with an error; `take` gets all other items. A stream that broke off must end
 * with its error, because some clients treat `[DONE]` as success.
 */
export function untilDone(
  text: string,
  take: (chunk: Record<string, unknown>) => void,
): { events: Record<string, unknown>[]; error: string | null } {
  const { items } = itemsOf(text);
  let error: string | null = null;
  let done = false;
  const events: Record<string, unknown>[] = [];
  for (const { event, data } of items) {
    rule(event === null, "no item has an event line", event);
    rule(error === null && !done, "nothing follows the end", data);
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const parsed = anyObject.parse(JSON.parse(data));
    events.push(parsed);
    if ("error" in parsed) error = errorSchema.parse(parsed).error.message;
    else take(parsed);
  }
  rule(done === (error === null), "a stream ends with [DONE] or with an error", text.slice(-80));
  return { events, error };
}

/** Checks a chat-completions stream against every rule of its dialect. Throws with the violated rule. */
export function validateChatCompletionsStream(text: string): ValidStream {
  const check = new ChatCheck();
  const { events, error } = untilDone(text, (chunk) => {
    checkPublishedChunk(chunk);
    check.take(chunkSchema.parse(chunk));
  });
  return { events, completion: check.completion(error) };
}

const completionSchema = z.looseObject({
  id: z.string().min(1),
  object: z.literal("chat.completion"),
  choices: z.tuple([
    z.looseObject({
      index: z.literal(0),
      message: z.looseObject({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.string().min(1).nullable(),
        reasoning_content: z.string().optional(),
        tool_calls: z
          .array(
            z.strictObject({
              id: z.string().min(1),
              type: z.literal("function"),
              function: z.strictObject({ name: z.string().min(1), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      finish_reason: finishReason,
    }),
  ]),
  usage: usageSchema,
});

/**
 * Converts a non-streamed chat completion to the canonical form. Its text is empty if it has calls, as the contract
 * requires. Throws if it violates a rule of its dialect.
 */
export function canonicalChat(body: unknown): CanonicalCompletion {
  const completion = completionSchema.parse(body);
  const [{ message, finish_reason: finish }] = completion.choices;
  const toolCalls = (message.tool_calls ?? []).map((call) => ({
    name: call.function.name,
    arguments: argumentsOf(call.function.arguments),
  }));
  const silent = toolCalls.length > 0 || message.refusal !== null;
  rule(
    (message.content === null) === silent,
    "content is null if and only if calls were made, or it refuses",
  );
  endsAsCalled(finish, toolCalls.length);
  return {
    text: message.content ?? "",
    ...(message.refusal === null ? {} : { refusal: message.refusal }),
    reasoning: message.reasoning_content ?? "",
    toolCalls,
    finish,
    usage: toUsage(completion.usage),
    error: null,
  };
}
