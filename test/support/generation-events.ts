import fc from "fast-check";
import { CompletionFold } from "../../src/core/conversation/completion-fold.ts";
import type { Completion, FinishReason, GenerationEvent } from "../../src/core/conversation/events.ts";
import { GatewayError } from "../../src/core/errors/gateway-error.ts";
import type { AnswerInfo } from "../../src/gateway/generation/generation-job.ts";
import { type ConversationChanges, thinkingConversation } from "./conversations.ts";

/** Input of a renderer besides the events. */
export function testInfo(changes: ConversationChanges = {}): AnswerInfo {
  return {
    conversation: thinkingConversation(changes),
    requestId: "req_1",
    created: 1_750_000_000,
    promptTokens: () => 7,
  };
}

/** The events of one tool call; `pieces` are its arguments. */
export function callEvents(index: number, name: string, pieces: readonly string[]): GenerationEvent[] {
  return [
    { type: "tool-call", index, id: `call_${index}`, name },
    ...pieces.map((delta): GenerationEvent => ({ type: "tool-arguments", index, delta })),
    { type: "tool-call-end", index },
  ];
}

export const START: GenerationEvent = { type: "start", sessionId: "session-1" };

/** The last event of an answer with 11 prompt tokens and 5 completion tokens. */
export function finishEvent(reason: FinishReason = "stop"): GenerationEvent {
  return { type: "finish", reason, usage: { prompt: 11, completion: 5, reasoning: 2 } };
}

/** The last event of an answer that broke off. */
export const FAILURE: GenerationEvent = {
  type: "error",
  error: new GatewayError(503, "the provider's answer was cut off", { code: "upstream_error" }),
};

/** Folds events to a completion. */
export function completionOf(events: readonly GenerationEvent[]): Completion {
  const fold = new CompletionFold();
  for (const event of events) fold.push(event);
  return fold.completion();
}

const piece = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((place) => place % text.length))].sort((a, b) => a - b);
  const ends = [...places.filter((place) => place > 0), text.length];
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

const segment = fc.oneof(
  fc.record({ kind: fc.constant("separator" as const) }),
  fc.record({ kind: fc.constantFrom("text" as const, "reasoning" as const), text: piece }),
  fc.record({
    kind: fc.constant("call" as const),
    name: fc.stringMatching(/^[a-z_]{1,8}$/),
    args: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    cuts: fc.array(fc.nat(), { maxLength: 4 }),
  }),
);

/** Arbitrary valid event sequences of successful generations. */
export const wholeGenerations: fc.Arbitrary<GenerationEvent[]> = fc
  .record({
    segments: fc.array(segment, { maxLength: 8 }),
    reason: fc.constantFrom<FinishReason>("stop", "length", "content_filter"),
    /** Length of the fragment of a call in which the answer was cut off. */
    fragment: fc.option(fc.nat(10), { nil: undefined }),
  })
  .map(({ segments, reason, fragment }) => {
    let calls = 0;
    const events = segments.flatMap((part): GenerationEvent[] => {
      if (part.kind === "separator") return [{ type: "text", text: "\n\n", separator: { citations: [] } }];
      if (part.kind !== "call") return [{ type: part.kind, text: part.text }];
      const made = callEvents(calls, part.name, cut(JSON.stringify(part.args), part.cuts));
      calls += 1;
      return made;
    });
    const half =
      reason === "stop" || fragment === undefined
        ? []
        : callEvents(calls, "half", ['{"text":"abc'.slice(0, 1 + fragment)]).slice(0, -1);
    const ended = calls > 0 && reason === "stop" ? "tool_calls" : reason;
    return [START, ...events, ...half, finishEvent(ended)];
  });

/** Arbitrary valid event sequences that break off after the first event. */
export const brokenGenerations: fc.Arbitrary<GenerationEvent[]> = fc
  .tuple(wholeGenerations, fc.nat())
  .map(([events, place]) => [...events.slice(0, 1 + (place % (events.length - 1))), FAILURE]);
