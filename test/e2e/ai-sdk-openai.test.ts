import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, isStepCount, type LanguageModel, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { useGateway } from "../support/use-gateway.ts";

const MODEL = "gpt-4.1";

describe.each(["responses", "chat"] as const)("the AI SDK, openai provider, %s", (style) => {
  const api = useGateway();

  function model(name = MODEL): LanguageModel {
    const provider = createOpenAI({ baseURL: `${api.gateway.url}/v1`, apiKey: "sk-dev" });
    return style === "chat" ? provider.chat(name) : provider.responses(name);
  }

  function weather(asked: string[]) {
    return {
      weather: tool({
        description: "The weather in a city",
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => {
          asked.push(city);
          return { city, degrees: 25 };
        },
      }),
    };
  }

  it("generates text", async () => {
    const { text, usage, finishReason } = await generateText({
      model: model(),
      system: "Be kind.",
      prompt: "[[say:Hello there.]]",
    });
    expect(text).toBe("Hello there.");
    expect(finishReason).toBe("stop");
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  it("streams text", async () => {
    const result = streamText({ model: model(), prompt: "[[say:One two three four five.]]" });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.join("")).toBe("One two three four five.");
    expect(pieces.length).toBeGreaterThan(1);
    expect(await result.finishReason).toBe("stop");
    expect((await result.usage).totalTokens).toBeGreaterThan(0);
  });

  it("carries on a conversation", async () => {
    const first = await generateText({ model: model(), prompt: "[[say:My name is Ada.]]" });
    await generateText({
      model: model(),
      messages: [
        { role: "user", content: "Name?" },
        ...first.response.messages,
        { role: "user", content: "Again?" },
      ],
    });
    const { prompt } = await api.gateway.sandbox.lastTurn();
    expect(prompt).toMatch(/Name\?[\s\S]*My name is Ada\.[\s\S]*Again\?/);
  });

  for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
    const directives = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
    const prompt = `${directives}[[then:It is warm.]]`;

    it(`generates text with ${cities.length} tool call(s)`, async () => {
      const asked: string[] = [];
      const { text, steps } = await generateText({
        model: model(),
        prompt,
        tools: weather(asked),
        stopWhen: isStepCount(3),
      });
      expect(asked).toEqual(cities);
      expect(steps[0]?.finishReason).toBe("tool-calls");
      expect(text).toContain("It is warm.");
    });

    it(`streams text with ${cities.length} tool call(s)`, async () => {
      const asked: string[] = [];
      const result = streamText({ model: model(), prompt, tools: weather(asked), stopWhen: isStepCount(3) });
      const types = new Set<string>();
      for await (const part of result.fullStream) types.add(part.type);
      expect(asked).toEqual(cities);
      expect(types).not.toContain("error");
      expect(await result.text).toContain("It is warm.");
      expect(await result.steps).toHaveLength(2);
    });
  }

  it("raises an API error for a model that does not exist", async () => {
    const error = await generateText({ model: model("no-such-model"), prompt: "hi", maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 400, message: expect.stringContaining("no-such-model") });
  });

  it("raises an error when the stream breaks", async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: model(),
      prompt: "[[big:400]][[chunk:20]][[reset]]",
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await result.consumeStream();
    expect(errors).toHaveLength(1);
    expect(await Promise.resolve(result.finishReason).catch(() => "error")).toBe("error");
  });

  it("says that the answer was cut off", async () => {
    const { finishReason } = await generateText({ model: model(), prompt: "[[say:cut of]][[length]]" });
    expect(finishReason).toBe("length");
    const result = streamText({ model: model(), prompt: "[[say:cut of]][[length]]" });
    await result.consumeStream();
    expect(await result.finishReason).toBe("length");
  });
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

  it.each([true, false])("takes reasoning, text and calls back (store: %s)", async (store) => {
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
  });
});
