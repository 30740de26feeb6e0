import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { toChatCompletion } from "../../../../../src/gateway/dialects/chat-completions/response.ts";
import { ChatStream } from "../../../../../src/gateway/dialects/chat-completions/stream.ts";
import { DeclaredTools } from "../../../../../src/gateway/dialects/shared/declared-tools.ts";
import {
  brokenGenerations,
  completionOf,
  testInfo,
  wholeGenerations,
} from "../../../../support/generation-events.ts";
import {
  canonicalChat,
  validateChatCompletionsStream,
} from "../../../../support/stream-validators/chat-completions.ts";

const AS_FUNCTIONS = { tools: new DeclaredTools(), isLegacy: false };

function render(events: readonly GenerationEvent[], includeUsage: boolean): string {
  const stream = new ChatStream(testInfo(), AS_FUNCTIONS, includeUsage);
  return events.map((event) => stream.push(event)).join("");
}

describe("a chat-completions stream", () => {
  it("is valid and equals the whole answer for any generation", () => {
    fc.assert(
      fc.property(wholeGenerations, fc.boolean(), (events, includeUsage) => {
        const streamed = validateChatCompletionsStream(render(events, includeUsage)).completion;
        const whole: unknown = JSON.parse(
          JSON.stringify(toChatCompletion(completionOf(events), testInfo(), AS_FUNCTIONS)),
        );
        // Beside calls the body has no text (docs/contract/answers.md, Chat completion), the stream passes it through.
        const text = streamed.toolCalls.length > 0 ? "" : streamed.text;
        expect({ ...streamed, text }).toEqual(canonicalChat(whole));
      }),
    );
  });

  it("ends with an error, without a finish, if the generation breaks off", () => {
    fc.assert(
      fc.property(brokenGenerations, (events) => {
        const { completion } = validateChatCompletionsStream(render(events, false));
        expect(completion).toMatchObject({ error: "the provider's answer was cut off", finish: null });
      }),
    );
  });
});
