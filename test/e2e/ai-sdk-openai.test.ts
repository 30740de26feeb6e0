import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeAiSdk } from "../support/ai-sdk-suite.ts";
import { type TestGateway, useGateway } from "../support/use-gateway.ts";

const openai = (api: TestGateway) => createOpenAI({ baseURL: `${api.gateway.url}/v1`, apiKey: "sk-dev" });

describeAiSdk("openai (responses)", {
  name: "gpt-4.1",
  thinking: null,
  model: (api, name) => openai(api).responses(name),
});

describeAiSdk("openai (chat)", {
  name: "gpt-4.1",
  thinking: null,
  model: (api, name) => openai(api).chat(name),
});

describeAiSdk("openai-compatible", {
  name: "gpt-4.1",
  model: (api, name) =>
    createOpenAICompatible({
      name: "polygate",
      baseURL: `${api.gateway.url}/v1`,
      apiKey: "sk-dev",
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(name),
});

describe("the AI SDK, openai provider, responses with reasoning", () => {
  const api = useGateway();
  const model = () => createOpenAI({ baseURL: `${api.gateway.url}/v1`, apiKey: "sk-dev" }).responses("gpt-5");
  const providerOptions = { openai: { reasoningEffort: "medium", reasoningSummary: "auto" } };

  it("generates and streams reasoning", async () => {
    const prompt = "[[think:hmm]][[say:yes]]";
    const { reasoningText, text } = await generateText({ model: model(), prompt, providerOptions });
    expect([reasoningText, text]).toEqual(["hmm", "yes"]);
    const result = streamText({ model: model(), prompt, providerOptions });
    await result.consumeStream();
    expect([await result.reasoningText, await result.text]).toEqual(["hmm", "yes"]);
  });

  it.each([true, false])(
    "accepts reasoning, text and calls of an earlier step (store: %s)",
    async (store) => {
      const options = { openai: { ...providerOptions.openai, store } };
      const asked: string[] = [];
      const { text, steps } = await generateText({
        model: model(),
        prompt: '[[think:hmm]][[say:Let me look.]][[call:weather:{"city":"Rome"}]][[then:It is warm.]]',
        providerOptions: options,
        tools: {
          weather: tool({
            inputSchema: z.object({ city: z.string() }),
            execute: async ({ city }) => {
              asked.push(city);
              return "25 degrees";
            },
          }),
        },
        stopWhen: isStepCount(3),
      });
      expect(asked).toEqual(["Rome"]);
      expect(steps).toHaveLength(2);
      expect(text).toContain("It is warm.");
      expect((await api.gateway.sandbox.lastTurn()).prompt).toContain("Let me look.");
    },
  );
});

describe("the AI SDK, openai provider, text completions", () => {
  const api = useGateway();

  it("generates and streams text", async () => {
    const model = openai(api).completion("gpt-4.1");
    const prompt = "[[think:hm]][[say:One two three four five.]]";
    const { text, usage, finishReason } = await generateText({ model, prompt });
    expect([text, finishReason]).toEqual(["One two three four five.", "stop"]);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(await api.gateway.sandbox.lastTurn()).toMatchObject({ stop: ["\nuser:"] });
    const result = streamText({ model, prompt });
    await result.consumeStream();
    expect([await result.text, await result.reasoningText]).toEqual([text, undefined]);
    expect((await result.usage).totalTokens).toBeGreaterThan(0);
  });
});
