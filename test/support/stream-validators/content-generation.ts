import { z } from "zod";
import { checkPublishedContent } from "../published.ts";
import { anyObject, type CanonicalCompletion, itemsOf, rule, type ValidStream } from "./completion.ts";

const count = z.int().nonnegative();

const partSchema = z.union([
  z.strictObject({ text: z.string(), thought: z.literal(true).optional() }),
  z.strictObject({
    functionCall: z.strictObject({ id: z.string().min(1), name: z.string().min(1), args: anyObject }),
  }),
]);

const candidateSchema = z.strictObject({
  content: z.strictObject({ role: z.literal("model"), parts: z.array(partSchema).min(1) }),
  finishReason: z.enum(["STOP", "MAX_TOKENS", "SAFETY"]).optional(),
  index: z.literal(0),
});

const usageSchema = z.strictObject({
  promptTokenCount: count.positive(),
  candidatesTokenCount: count,
  thoughtsTokenCount: count.optional(),
  totalTokenCount: count,
});

const chunkSchema = z.strictObject({
  candidates: z.tuple([candidateSchema]),
  usageMetadata: usageSchema.optional(),
  modelVersion: z.string().min(1),
  responseId: z.string().min(1),
});

const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.int().min(400).max(599),
    message: z.string().min(1),
    status: z.string().regex(/^[A-Z_]+$/),
  }),
});

type Chunk = z.output<typeof chunkSchema>;

const FINISH = { STOP: "stop", MAX_TOKENS: "length", SAFETY: "content_filter" } as const;

function toUsage(usage: z.output<typeof usageSchema>): { prompt: number; completion: number } {
  const completion = usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0);
  rule(usage.totalTokenCount === usage.promptTokenCount + completion, "the counts add up", usage);
  return { prompt: usage.promptTokenCount, completion };
}

/** Folds chunks to the canonical form. */
class ContentFold {
  #text = "";
  #reasoning = "";
  readonly #calls: { name: string; arguments: Record<string, unknown> }[] = [];
  readonly #ids = new Set<string>();

  /** Adds a chunk's parts. `streaming`: only the last chunk may have an empty part, and calls must be in the last chunk. */
  add({ candidates: [candidate] }: Chunk, streaming: boolean): void {
    const last = candidate.finishReason !== undefined;
    for (const part of candidate.content.parts) {
      if ("functionCall" in part) {
        const { id, name, args } = part.functionCall;
        rule(last || !streaming, "function calls stand in the last chunk", part);
        rule(!this.#ids.has(id), "calls have distinct ids", id);
        this.#ids.add(id);
        this.#calls.push({ name, arguments: args });
      } else {
        rule(part.text !== "" || last, "only the last chunk may be without text", part);
        if (part.thought === true) this.#reasoning += part.text;
        else this.#text += part.text;
      }
    }
  }

  completion(end: Chunk): CanonicalCompletion {
    const reason = end.candidates[0].finishReason;
    rule(reason !== undefined, "the last chunk has a finishReason");
    rule(end.usageMetadata !== undefined, "the last chunk has usageMetadata");
    const finish = reason === "STOP" && this.#calls.length > 0 ? "tool_calls" : FINISH[reason];
    return { ...this.#parts(), finish, usage: toUsage(end.usageMetadata), error: null };
  }

  failed(error: string): CanonicalCompletion {
    return { ...this.#parts(), finish: null, usage: null, error };
  }

  #parts() {
    return { text: this.#text, reasoning: this.#reasoning, toolCalls: this.#calls };
  }
}

/** Checks a content-generation stream against every rule of its dialect. Throws with the violated rule. */
export function validateContentGenerationStream(text: string): ValidStream {
  const { items, keepAlives } = itemsOf(text);
  rule(keepAlives.comments === 0, "SDKs of this style lose what follows a comment");
  const fold = new ContentFold();
  const names = new Set<string>();
  let completion: CanonicalCompletion | null = null;
  const events = items.map(({ event, data }) => {
    rule(event === null, "no item has an event line", event);
    rule(completion === null, "nothing follows the last chunk", data);
    const parsed = anyObject.parse(JSON.parse(data));
    checkPublishedContent(parsed);
    if ("error" in parsed) {
      completion = fold.failed(errorSchema.parse(parsed).error.message);
      return parsed;
    }
    const chunk = chunkSchema.parse(parsed);
    names.add(`${chunk.responseId} ${chunk.modelVersion}`);
    rule(names.size === 1, "all chunks have the same responseId and modelVersion", chunk);
    fold.add(chunk, true);
    const last = chunk.candidates[0].finishReason !== undefined;
    rule(last === (chunk.usageMetadata !== undefined), "usageMetadata stands in the last chunk", chunk);
    if (last) completion = fold.completion(chunk);
    return parsed;
  });
  rule(completion !== null, "a stream ends with a finishReason or with an error");
  return { events, completion };
}

/** Converts a non-streamed response to the canonical form. Throws if it violates a rule of its dialect. */
export function canonicalContent(body: unknown): CanonicalCompletion {
  checkPublishedContent(anyObject.parse(body));
  const response = chunkSchema.parse(body);
  const fold = new ContentFold();
  fold.add(response, false);
  return fold.completion(response);
}
