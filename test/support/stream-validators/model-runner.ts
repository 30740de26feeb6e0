import { z } from "zod";
import { checkPublishedLine } from "../published.ts";
import { anyObject, type CanonicalCompletion, rule, type ValidStream } from "./completion.ts";

const count = z.int().nonnegative();

const messageSchema = z.strictObject({
  role: z.literal("assistant"),
  content: z.string(),
  thinking: z.string().min(1).optional(),
  tool_calls: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        function: z.strictObject({ index: count, name: z.string().min(1), arguments: anyObject }),
      }),
    )
    .min(1)
    .optional(),
});

const lineSchema = z.looseObject({
  model: z.string().min(1),
  created_at: z.iso.datetime(),
  message: messageSchema.optional(),
  response: z.string().optional(),
  thinking: z.string().min(1).optional(),
  done: z.boolean(),
});

const closingSchema = z.looseObject({
  done: z.literal(true),
  done_reason: z.enum(["stop", "length", "content_filter"]),
  total_duration: count,
  load_duration: count,
  prompt_eval_count: count,
  prompt_eval_duration: count,
  eval_count: count,
  eval_duration: count,
});

/** Folds lines, or the single body of a non-streamed answer. */
class RunnerFold {
  #text = "";
  #reasoning = "";
  readonly #calls: { name: string; arguments: Record<string, unknown> }[] = [];

  add(value: Record<string, unknown>): CanonicalCompletion | null {
    const line = lineSchema.parse(value);
    rule(
      (line.message === undefined) !== (line.response === undefined),
      "a line has a message or a response",
      value,
    );
    this.#text += line.message?.content ?? line.response ?? "";
    this.#reasoning += line.message?.thinking ?? line.thinking ?? "";
    for (const { function: call } of line.message?.tool_calls ?? []) {
      rule(call.index === this.#calls.length, "indices count up without a gap", call);
      this.#calls.push({ name: call.name, arguments: call.arguments });
    }
    if (!line.done) return null;
    const end = closingSchema.parse(value);
    return {
      ...this.#parts(),
      finish: end.done_reason === "stop" && this.#calls.length > 0 ? "tool_calls" : end.done_reason,
      usage: { prompt: end.prompt_eval_count, completion: end.eval_count },
      error: null,
    };
  }

  failed(error: string): CanonicalCompletion {
    return { ...this.#parts(), finish: null, usage: null, error };
  }

  #parts() {
    return { text: this.#text, reasoning: this.#reasoning, toolCalls: this.#calls };
  }
}

/** Checks a local-runner stream (JSON lines). Throws with the violated rule. */
export function validateModelRunnerStream(text: string): ValidStream {
  rule(text.endsWith("\n"), "the last line is whole", text.slice(-80));
  const fold = new RunnerFold();
  let completion: CanonicalCompletion | null = null;
  const events = text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      rule(line.trim() !== "", "no line is empty");
      rule(completion === null, "nothing follows the last line", line);
      const parsed = anyObject.parse(JSON.parse(line));
      checkPublishedLine(parsed);
      completion =
        "error" in parsed ? fold.failed(z.string().min(1).parse(parsed["error"])) : fold.add(parsed);
      return parsed;
    });
  rule(completion !== null, "a stream ends with done or with an error");
  return { events, completion };
}

/** Converts a non-streamed answer to the canonical form. */
export function canonicalRunner(body: unknown): CanonicalCompletion {
  const parsed = anyObject.parse(body);
  checkPublishedLine(parsed);
  const completion = new RunnerFold().add(parsed);
  rule(completion !== null, "the answer is done");
  return completion;
}
