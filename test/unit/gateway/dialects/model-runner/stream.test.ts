import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import {
  type AnswerFormat,
  CHAT_FORMAT,
  GENERATE_FORMAT,
} from "../../../../../src/gateway/dialects/model-runner/answer-format.ts";
import { toRunnerResponse } from "../../../../../src/gateway/dialects/model-runner/response.ts";
import { RunnerStream } from "../../../../../src/gateway/dialects/model-runner/stream.ts";
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
  canonicalRunner,
  validateModelRunnerStream,
} from "../../../../support/stream-validators/model-runner.ts";

const WATCH = { startedAt: 1_750_000_000_000, now: () => 1_750_000_000_250, firstTokenMs: () => 50 };

function render(events: readonly GenerationEvent[], shape: AnswerFormat = CHAT_FORMAT): string {
  const stream = new RunnerStream(testInfo(), shape, WATCH);
  return events.map((event) => stream.push(event)).join("");
}

describe("a local-runner stream", () => {
  it("is valid and equals the whole answer for any chat", () => {
    fc.assert(
      fc.property(wholeGenerations, (events) => {
        const streamed = validateModelRunnerStream(render(events)).completion;
        const body = toRunnerResponse(completionOf(events), testInfo(), CHAT_FORMAT, WATCH);
        expect(streamed).toEqual(canonicalRunner(JSON.parse(JSON.stringify(body))));
      }),
    );
  });

  it("ends with an error line if the generation breaks off", () => {
    fc.assert(
      fc.property(brokenGenerations, (events) => {
        const { completion, events: lines } = validateModelRunnerStream(render(events));
        expect(completion.error).toBe("the provider's answer was cut off");
        expect(lines.at(-1)).toEqual({ error: "the provider's answer was cut off" });
      }),
    );
  });

  it("sends a complete call in a line of its own", () => {
    const { events } = validateModelRunnerStream(
      render([START, ...callEvents(0, "go", ['{"to":', '"Rome"}']), finishEvent("tool_calls")]),
    );
    expect(events[0]).toMatchObject({
      message: {
        content: "",
        tool_calls: [{ id: "call_0", function: { index: 0, name: "go", arguments: { to: "Rome" } } }],
      },
      done: false,
    });
    expect(events[1]).toMatchObject({ done: true, done_reason: "stop" });
  });

  it("states duration and tokens in the last line", () => {
    const { events } = validateModelRunnerStream(render([START, finishEvent("length")], GENERATE_FORMAT));
    expect(events).toEqual([
      {
        model: "provider-v4-flash",
        created_at: "2025-06-15T15:06:40.000Z",
        response: "",
        context: [],
        done: true,
        done_reason: "length",
        total_duration: 250_000_000,
        load_duration: 0,
        prompt_eval_count: 11,
        prompt_eval_duration: 50_000_000,
        eval_count: 5,
        eval_duration: 200_000_000,
      },
    ]);
  });

  it("sends a completion as a response, with separate thinking", () => {
    const { events, completion } = validateModelRunnerStream(
      render(
        [START, { type: "reasoning", text: "hm" }, { type: "text", text: "a" }, finishEvent()],
        GENERATE_FORMAT,
      ),
    );
    expect(events[0]).toMatchObject({ response: "", thinking: "hm" });
    expect(completion).toMatchObject({ text: "a", reasoning: "hm" });
  });

  it("accepts a keep-alive before any line", () => {
    const stream = new RunnerStream(testInfo(), CHAT_FORMAT, WATCH);
    const events = [START, { type: "text" as const, text: "a" }, finishEvent()];
    const text = events.map((event) => stream.keepAlive + stream.push(event)).join("");
    expect(validateModelRunnerStream(text).completion.text).toBe("a");
  });
});
