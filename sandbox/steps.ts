import type { Answer } from "./answer.ts";
import type { Directives } from "./directives.ts";

/** The next action of a stream. */
export type Step =
  | { readonly kind: "event"; readonly event: string; readonly data: string }
  | { readonly kind: "raw"; readonly text: string }
  | { readonly kind: "wait"; readonly ms: number }
  /** Stay open and silent until the client disconnects. */
  | { readonly kind: "hang" }
  /** Break the connection. */
  | { readonly kind: "reset" };

/** Format of the events: line ends, comments, data lines, and bytes per write (0: one event per write). */
export interface Format {
  readonly crlf: boolean;
  readonly comments: boolean;
  readonly multiline: boolean;
  readonly bytes: number;
}

/** Reads the format from the directives. */
export function readFormat(directives: Directives): Format {
  return {
    crlf: directives.has("crlf"),
    comments: directives.has("comments"),
    multiline: directives.has("multiline"),
    bytes: directives.numberArgument("bytes", 1) ?? 0,
  };
}

const event = (name: string, data: unknown): Step => ({
  kind: "event",
  event: name,
  data: JSON.stringify(data),
});

/** Token count of the sandbox: a quarter of the UTF-16 code units, rounded up. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4);

/**
 * Builds the events of one stream without faults. `finish` is the finish reason; `incomplete` means that a continuation
 * follows. Usage counts this stream's output; `completion_tokens` includes reasoning.
 */
export function buildEvents(
  messageId: string,
  answer: Omit<Answer, "finish" | "stopSequence">,
  finish: Answer["finish"] | "incomplete",
  promptTokens: number,
  directives: Directives,
  stopSequence: string | null = null,
): Step[] {
  const whole = directives.has("longline");
  const pieces = (text: string): string[] => (whole ? [text] : splitText(text, directives));
  const reasoningTokens = countTokens(answer.reasoning);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: reasoningTokens + countTokens(answer.text),
    reasoning_tokens: reasoningTokens,
  };
  return [
    event("start", { message_id: messageId }),
    ...pieces(answer.reasoning).map((text) => event("reasoning", { text })),
    ...(answer.search.length > 0 ? [event("search", { results: answer.search })] : []),
    ...pieces(answer.text).map((text) => event("text", { text })),
    ...(directives.has("nousage") ? [] : [event("usage", usage)]),
    event("finish", {
      reason: finish,
      ...(stopSequence === null || finish !== "stop" ? {} : { stop_sequence: stopSequence }),
    }),
  ];
}

/**
 * Splits a text into pieces of three words, or of as many characters as `[[chunk:n]]` says. Never splits a surrogate pair.
 */
function splitText(text: string, directives: Directives): string[] {
  if (text === "") return [];
  const size = directives.numberArgument("chunk", 1) ?? (directives.has("big") ? 4096 : undefined);
  if (size === undefined) return text.match(/\s*(?:\S+\s*){1,3}|\s+/g) ?? [text];
  const pieces: string[] = [];
  let piece = "";
  let count = 0;
  for (const character of text) {
    piece += character;
    if (++count < Math.max(1, size)) continue;
    pieces.push(piece);
    piece = "";
    count = 0;
  }
  return piece === "" ? pieces : [...pieces, piece];
}

/** Inserts the faults and delays of the directives into the events. */
export function injectFaults(events: readonly Step[], directives: Directives): Step[] {
  const middle = Math.ceil(events.length / 2);
  const [errorCode = "model_unavailable", errorAt] = directives.lastArguments("error") ?? [];
  let steps = [...events];

  const cutAt = directives.numberArgument("cut", middle);
  const resetAt = directives.numberArgument("reset", middle);
  const hangAt = directives.has("silent") ? 0 : directives.numberArgument("hang", middle);
  if (cutAt !== undefined) steps = steps.slice(0, cutAt);
  else if (resetAt !== undefined) steps = [...steps.slice(0, resetAt), { kind: "reset" }];
  else if (hangAt !== undefined) steps = [...steps.slice(0, hangAt), { kind: "hang" }];
  else if (directives.has("garbage")) {
    const at = directives.numberArgument("garbage", middle) ?? middle;
    steps.splice(at, 0, { kind: "raw", text: 'event: text\ndata: {"text": "torn\n\n' });
  } else if (directives.has("error")) {
    const at = errorAt !== undefined && /^\d+$/.test(errorAt) ? Number(errorAt) : middle;
    const message = `The sandbox was asked for the error ${errorCode}.`;
    steps = [...steps.slice(0, at), event("error", { code: errorCode, message })];
  }

  const slow = directives.numberArgument("slow", 100);
  if (slow !== undefined)
    steps = steps.flatMap((step, at) => (at === 0 ? [step] : [{ kind: "wait", ms: slow }, step]));
  const stall = directives.numberArgument("stall", 1000);
  return stall === undefined ? steps : [{ kind: "wait", ms: stall }, ...steps];
}
