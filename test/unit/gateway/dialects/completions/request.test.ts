import { describe, expect, it } from "vitest";
import { joinText } from "../../../../../src/core/conversation/conversation.ts";
import { parseWith } from "../../../../../src/core/http/json-body.ts";
import {
  completionRequestSchema,
  getEchoedPrompt,
  toConversation,
} from "../../../../../src/gateway/dialects/completions/request.ts";
import { refusalOf } from "../../../../support/refusal.ts";

const PROMPT = "Once upon a ";

function parse(body: Record<string, unknown>) {
  return parseWith(completionRequestSchema, { model: "provider-v4-flash", prompt: PROMPT, ...body });
}
const convert = (body: Record<string, unknown> = {}) => toConversation(parse(body), {});

describe("a text-completions request", () => {
  it.each([
    ["a string", PROMPT],
    ["an array of one string", [PROMPT]],
  ])("converts %s unchanged to the user's only message", (_, prompt) => {
    const { messages } = convert({ prompt });
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(messages[1]?.parts).toEqual([{ type: "text", text: PROMPT }]);
    expect(joinText(messages[0]?.parts ?? [])).toMatch(/^Continue the user's text/);
  });

  it("never thinks or offers tools", () => {
    expect(convert({ reasoning_effort: "high", tools: [{ function: { name: "go" } }] })).toMatchObject({
      dialect: "completions",
      contentField: "prompt",
      thinking: false,
      showReasoning: false,
      tools: [],
      responseFormat: { type: "text" },
      stream: false,
    });
  });

  it("tells the model the text after the gap, and to write only the gap", () => {
    const { messages } = convert({ suffix: "\n} // end" });
    const [instructions, suffix] = messages[0]?.parts ?? [];
    expect(instructions).toMatchObject({
      text: expect.stringMatching(/between the user's text and the text below/),
    });
    expect(suffix).toEqual({ type: "text", text: "\n} // end" });
    expect(messages[1]?.parts).toEqual([{ type: "text", text: PROMPT }]);
    expect(convert({ suffix: "" })).toEqual(convert());
  });

  it("echoes the prompt on request", () => {
    expect(getEchoedPrompt(parse({ echo: true, prompt: [PROMPT] }))).toBe(PROMPT);
    expect([{}, { echo: false }, { echo: null }].map((body) => getEchoedPrompt(parse(body)))).toEqual([
      "",
      "",
      "",
    ]);
  });

  it("passes on the options for sampling", () => {
    const options = { temperature: 0, top_p: 0.5, seed: 3, max_tokens: 9, stop: "END" };
    expect(convert({ ...options, stream: true })).toMatchObject({
      options: { temperature: 0, topP: 0.5, seed: 3, maxTokens: 9, stop: ["END"] },
      stream: true,
    });
    expect(convert({ stop: ["a", "b"] }).options).toEqual({ stop: ["a", "b"] });
  });

  it("accepts values without an effect", () => {
    const nothing = {
      suffix: null,
      echo: null,
      n: 1,
      best_of: 1,
      logprobs: null,
      stream: null,
      stream_options: null,
      stop: null,
      max_tokens: null,
      temperature: null,
      top_p: null,
      seed: null,
      store: true,
    };
    expect(convert(nothing)).toEqual(convert());
    expect(convert({ n: null, best_of: null })).toEqual(convert());
  });

  it("passes on the options for the choice of words", () => {
    const options = {
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      logit_bias: { "50256": -100 },
      user: "ada",
    };
    expect(convert(options).options).toEqual({
      frequencyPenalty: 0.5,
      presencePenalty: 0.25,
      logitBias: { "50256": -100 },
      user: "ada",
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no prompt", { prompt: undefined }, "prompt"],
    ["a null prompt", { prompt: null }, "prompt"],
    ["no prompts", { prompt: [] }, "prompt"],
    ["several prompts", { prompt: ["a", "b"] }, "prompt"],
    ["tokens", { prompt: [1212, 318] }, "prompt"],
    ["one token", { prompt: [1212] }, "prompt"],
    ["arrays of tokens", { prompt: [[1212, 318]] }, "prompt"],
    ["several answers", { n: 2 }, "n"],
    ["the best of several answers", { best_of: 3 }, "best_of"],
    ["too many alternatives", { logprobs: 21 }, "logprobs"],
    ["log probabilities that are no number", { logprobs: true }, "logprobs"],
    ["a suffix that is no text", { suffix: 7 }, "suffix"],
    ["an echo that is no boolean", { echo: "yes" }, "echo"],
    ["no model", { model: undefined }, "model"],
    ["an unknown model", { model: "no-such-model" }, "model"],
  ])("is a 400 that names the field with %s", (_, body, param) => {
    expect(refusalOf(() => convert(body))).toMatchObject({ status: 400, param });
  });
});
