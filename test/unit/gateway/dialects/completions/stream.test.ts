import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { toTextCompletion } from "../../../../../src/gateway/dialects/completions/response.ts";
import { CompletionStream } from "../../../../../src/gateway/dialects/completions/stream.ts";
import {
  brokenGenerations,
  callEvents,
  completionOf,
  finishEvent,
  START,
  testInfo,
  wholeGenerations,
} from "../../../../support/generation-events.ts";
import {
  canonicalTextCompletion,
  validateCompletionsStream,
} from "../../../../support/stream-validators/completions.ts";

function render(events: readonly GenerationEvent[], echo = "", includeUsage = false) {
  const stream = new CompletionStream(testInfo(), echo, includeUsage);
  return validateCompletionsStream(events.map((event) => stream.push(event)).join(""));
}

const TEXT: GenerationEvent = { type: "text", text: "time" };

describe("a text-completions stream", () => {
  it("is valid and equals the whole answer for any generation", () => {
    fc.assert(
      fc.property(wholeGenerations, fc.string({ unit: "binary" }), fc.boolean(), (events, echo, usage) => {
        const body = toTextCompletion(completionOf(events), testInfo(), echo);
        const whole = canonicalTextCompletion(JSON.parse(JSON.stringify(body)));
        const { completion } = render(events, echo, usage);
        expect(completion).toEqual(usage ? whole : { ...whole, usage: null });
      }),
    );
  });

  it("ends with an error, without a finish, if the generation breaks off", () => {
    fc.assert(
      fc.property(brokenGenerations, fc.string(), (events, echo) => {
        const { completion } = render(events, echo, true);
        expect(completion).toMatchObject({
          error: "the provider's answer was cut off",
          finish: null,
          usage: null,
        });
      }),
    );
  });

  it("has chunks with text, and the reason for the end in the last one", () => {
    const { events } = render([START, TEXT, finishEvent("length")]);
    const chunk = {
      id: expect.stringMatching(/^cmpl-\w{24}$/),
      object: "text_completion",
      created: 1_750_000_000,
      model: "provider-v4-flash",
    };
    const choice = { index: 0, logprobs: null };
    expect(events).toEqual([
      { ...chunk, choices: [{ ...choice, text: "time", finish_reason: null }] },
      { ...chunk, choices: [{ ...choice, text: "", finish_reason: "length" }] },
    ]);
  });

  it("begins with the echo, and states the counts once, if requested", () => {
    const { events } = render([START, TEXT, finishEvent()], "Once upon a ", true);
    expect(events[0]).toMatchObject({ choices: [{ text: "Once upon a ", finish_reason: null }] });
    expect(events.map(({ usage }) => usage)).toEqual([
      undefined,
      undefined,
      undefined,
      {
        prompt_tokens: 11,
        completion_tokens: 5,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    ]);
  });

  it("omits reasoning and calls, for which the style has no fields", () => {
    const hidden: GenerationEvent[] = [{ type: "reasoning", text: "hm" }, ...callEvents(0, "go", ["{}"])];
    const { events, completion } = render([START, ...hidden, TEXT, finishEvent("tool_calls")]);
    expect(events).toHaveLength(2);
    expect(completion).toMatchObject({ text: "time", finish: "stop" });
  });
});
