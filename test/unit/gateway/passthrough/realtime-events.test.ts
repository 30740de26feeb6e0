import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import { MemoryBudget } from "../../../../src/core/http/memory-budget.ts";
import { ProviderEvents, prepareClientEvent } from "../../../../src/gateway/passthrough/realtime-events.ts";

describe("a message of the caller", () => {
  const update = (session: object) => JSON.stringify({ type: "session.update", session });

  /** The text for the provider, or the status of the refusal. No memory stays reserved. */
  function prepare(text: string, model: string, isLimited: boolean): string | number {
    const budget = new MemoryBudget(40_000_000);
    const memory = budget.createReservation();
    try {
      return prepareClientEvent(text, { memory, model, isLimited });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return thrown.status;
    } finally {
      expect(budget.used).toBe(0);
    }
  }

  test.each([
    ["its own model", update({ model: "mine", voice: "a" }), update({ model: "real", voice: "a" })],
    ["another model", update({ model: "other" }), update({ model: "real" })],
    ["two sessions", '{"session":{"model":"other"},"session":{}}', '{"session":{}}'],
    ["a name with escapes", '{"session":{"\\u006dodel":"other"}}', '{"session":{"model":"real"}}'],
    ["the word in a text", '{"text": "a model", "n":1}', '{"text":"a model","n":1}'],
    [
      "numbers that others print",
      '{"session":{"model":"a"},"n":[12345678901234567890,-0,1.0]}',
      '{"session":{"model":"real"},"n":[12345678901234567890,-0,1.0]}',
    ],
    ["nothing of it", '{ "type" : "response.create" }', '{ "type" : "response.create" }'],
    ["no JSON and no model", "hello", "hello"],
  ])("with %s", (_, text, expected) => {
    expect(prepare(text, "real", false)).toBe(expected);
  });

  test.each([
    [update({ model: "other" }), "real", false],
    [update({ model: "other" }), "", true],
    [update({ Model: "big" }), "real", true],
    [update({ model: { MODEL: "big" } }), "", true],
    [JSON.stringify({ Session: { model: "big" } }), "real", true],
    [update({ audio: { input: { transcription: { model: "w" } } } }), "real", true],
    [JSON.stringify({ type: "response.create", response: { tools: [{ model: "x" }] } }), "real", true],
    [JSON.stringify({ item: { content: [{ text: '"model":"x"' }] } }), "real", false],
  ])("%s of a limited key, in a session with the model %j: forbidden is %s", (text, model, isForbidden) => {
    expect(prepare(text, model, true) === 403).toBe(isForbidden);
    expect(prepare(text, model, false)).toBeTypeOf("string");
  });

  test.each([
    ["no JSON", '{"session":{"model":"big"},"n":NaN}', 400],
    ["no object", '[{"model":"big"}]', 400],
    ["escapes that JSON lacks", '{"session":{"\\x6dodel":"big"}}', 400],
    ["100,000 levels", `{"model":${"[".repeat(100_000)}`, 400],
    ["very many values", `{"model":[${"{},".repeat(300_000)}{}]}`, 413],
  ])("with %s is refused", (_, text, status) => {
    expect(prepare(text, "real", false)).toBe(status);
    expect(prepare(text, "", true)).toBe(status);
  });

  test("that is not JSON is passed on if no model is restricted", () => {
    expect(prepare("model", "", false)).toBe("model");
  });
});

describe("events of the provider", () => {
  test("add up their usage, and keep the texts", () => {
    const log: { promptTokens?: number; completionTokens?: number; cachedTokens?: number } = {};
    const events = new ProviderEvents(log, [], new MemoryBudget(40_000_000).createReservation());
    const done = JSON.stringify({
      type: "response.done",
      response: {
        output: [{ content: [{ transcript: "Hello." }] }, { type: "function_call" }],
        usage: { input_tokens: 5, output_tokens: 2, input_token_details: { cached_tokens: 1 } },
      },
    });
    expect(events.read(done)).toBe(done);
    events.read(done);
    events.read('{"type":"response.done"');
    events.read('{"type":"other","text":"response.done","response":{"usage":{"input_tokens":99}}}');
    expect(log).toEqual({ promptTokens: 10, completionTokens: 4, cachedTokens: 2 });
    expect(events.transcript).toBe("Hello.\nHello.\n");
  });

  test("count sound by itself, and no absurd counts", () => {
    const log = {};
    const events = new ProviderEvents(log, [], new MemoryBudget(40_000_000).createReservation());
    const stated = [
      { input_tokens: 9, output_tokens: 8, output_token_details: { text_tokens: 1, audio_tokens: 7 } },
      { input_tokens: 4, output_tokens: 1, input_token_details: { audio_tokens: 3, cached_tokens: 1e15 } },
      { input_tokens: 1e300, output_tokens: -5 },
    ];
    for (const usage of stated) events.read(JSON.stringify({ type: "response.done", response: { usage } }));
    const details = { cached: 4, audioInput: 3, audioOutput: 7 };
    expect(events.usage).toEqual({ prompt: 13, completion: 9, reasoning: 0, ...details });
    expect(log).toEqual({
      promptTokens: 13,
      completionTokens: 9,
      cachedTokens: 4,
      audioInputTokens: 3,
      audioOutputTokens: 7,
      usageRefused: true,
    });
  });

  test("do not show the account's secrets in errors", () => {
    const events = new ProviderEvents(
      {},
      ["sk-of-the-account"],
      new MemoryBudget(40_000_000).createReservation(),
    );
    expect(events.read('{"type":"error","error":{"message":"bad sk-of-the-account"}}')).toBe(
      '{"type":"error","error":{"message":"bad [masked]"}}',
    );
  });
});
