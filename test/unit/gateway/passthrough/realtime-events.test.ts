import { describe, expect, test } from "vitest";
import { ProviderEvents, prepareClientEvent } from "../../../../src/gateway/passthrough/realtime-events.ts";

describe("a message of the caller", () => {
  const update = (session: object) => JSON.stringify({ type: "session.update", session });

  test.each([
    ["its own model", update({ model: "mine", voice: "a" }), update({ voice: "a", model: "real" })],
    ["another model", update({ model: "other" }), update({ model: "real" })],
    ["two sessions", '{"session":{"model":"other"},"session":{}}', '{"session":{}}'],
    ["a name with escapes", '{"session":{"\\u006dodel":"other"}}', '{"session":{"model":"real"}}'],
    ["the word in a text", '{"text": "a model", "n":1}', '{"text":"a model","n":1}'],
    ["nothing of it", '{ "type" : "response.create" }', '{ "type" : "response.create" }'],
    ["no JSON", "model", "model"],
  ])("with %s", (_, text, expected) => {
    expect(prepareClientEvent(text, "real", false)).toEqual({ text: expected, isForbidden: false });
  });

  test.each([
    [update({ model: "other" }), "real", false],
    [update({ model: "other" }), "", true],
    [update({ audio: { input: { transcription: { model: "w" } } } }), "real", true],
    [JSON.stringify({ type: "response.create", response: { tools: [{ model: "x" }] } }), "real", true],
    [JSON.stringify({ item: { content: [{ text: '"model":"x"' }] } }), "real", false],
  ])("%s of a limited key, in a session with the model %j: forbidden is %s", (text, model, isForbidden) => {
    expect(prepareClientEvent(text, model, true).isForbidden).toBe(isForbidden);
    expect(prepareClientEvent(text, model, false).isForbidden).toBe(false);
  });
});

describe("events of the provider", () => {
  test("add up their usage, and keep what was said", () => {
    const log: { promptTokens?: number; completionTokens?: number; cachedTokens?: number } = {};
    const events = new ProviderEvents(log, []);
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

  test("do not show the account's secrets in errors", () => {
    const events = new ProviderEvents({}, ["sk-of-the-account"]);
    expect(events.read('{"type":"error","error":{"message":"bad sk-of-the-account"}}')).toBe(
      '{"type":"error","error":{"message":"bad [masked]"}}',
    );
  });
});
