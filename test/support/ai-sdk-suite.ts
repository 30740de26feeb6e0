import { APICallError, generateText, isStepCount, type LanguageModel, Output, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CUT_CALL } from "./dialect-conversations.ts";
import { type TestGateway, useGateway } from "./use-gateway.ts";

/** A PNG of one pixel, base64. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/**
 * Tests for the AI SDK with any of its providers. `model` creates a model for a gateway and a model name. `thinking` is the
 * provider's option to show reasoning that is hidden by default; null: no option is needed.
 */
export function describeAiSdk(
  provider: string,
  options: {
    name: string;
    thinking?: NonNullable<Parameters<typeof generateText>[0]["providerOptions"]> | null;
    model: (api: TestGateway, name: string) => LanguageModel;
  },
): void {
  describe(`the AI SDK, ${provider} provider`, () => {
    const thought = options.thinking === null ? undefined : "hm";
    const asked = options.thinking ? { providerOptions: options.thinking } : {};
    const api = useGateway();
    const model = (name = options.name) => options.model(api, name);

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

    it("generates text and reasoning", async () => {
      const { text, reasoningText, usage, finishReason } = await generateText({
        model: model(),
        system: "Be kind.",
        prompt: "[[think:hm]][[say:Hello there.]]",
        ...asked,
      });
      expect([text, reasoningText, finishReason]).toEqual(["Hello there.", thought, "stop"]);
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect((await api.gateway.sandbox.lastTurn()).prompt).toContain("Be kind.");
    });

    it("streams text and reasoning", async () => {
      const prompt = "[[think:hm]][[say:One two three four five.]]";
      const result = streamText({ model: model(), prompt, ...asked });
      const pieces: string[] = [];
      for await (const piece of result.textStream) pieces.push(piece);
      expect(pieces.join("")).toBe("One two three four five.");
      expect(pieces.length).toBeGreaterThan(1);
      expect([await result.reasoningText, await result.finishReason]).toEqual([thought, "stop"]);
      expect((await result.usage).totalTokens).toBeGreaterThan(0);
    });

    it("runs no call that was cut off, and hears why", async () => {
      const asked: string[] = [];
      const prompt = `${CUT_CALL}[[length]]`;
      const request = { model: model(), prompt, tools: weather(asked), stopWhen: isStepCount(3) };
      expect((await generateText(request)).finishReason).toBe("length");
      const result = streamText(request);
      await result.consumeStream();
      expect(await result.finishReason).toBe("length");
      expect(asked).toEqual([]);
    });

    it("carries on a conversation", async () => {
      const prompt = "[[think:hm]][[say:My name is Ada.]]";
      const first = await generateText({ model: model(), prompt, ...asked });
      await generateText({
        model: model(),
        messages: [
          { role: "user", content: "Name?" },
          ...first.response.messages,
          { role: "user", content: "Again?" },
        ],
      });
      const turn = await api.gateway.sandbox.lastTurn();
      expect(turn.prompt).toMatch(/Name\?[\s\S]*My name is Ada\.[\s\S]*Again\?/);
    });

    for (const cities of [["Rome"], ["Rome", "Oslo"]]) {
      const calls = cities.map((city) => `[[call:weather:{"city":"${city}"}]]`).join("");
      const prompt = `[[text-and-call]]${calls}[[then:It is warm.]]`;

      it(`generates text with ${cities.length} tool call(s)`, async () => {
        const asked: string[] = [];
        const { text, steps } = await generateText({
          model: model(),
          prompt,
          tools: weather(asked),
          stopWhen: isStepCount(3),
        });
        expect(asked).toEqual(cities);
        expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
        expect(text).toContain("It is warm.");
        expect((await api.gateway.sandbox.lastTurn()).prompt).toContain('"degrees":25');
      });

      it(`streams text with ${cities.length} tool call(s)`, async () => {
        const asked: string[] = [];
        const result = streamText({
          model: model(),
          prompt,
          tools: weather(asked),
          stopWhen: isStepCount(3),
        });
        const types = new Set<string>();
        for await (const part of result.fullStream) types.add(part.type);
        expect(asked).toEqual(cities);
        expect(types).not.toContain("error");
        expect(await result.text).toContain("It is warm.");
        expect(await result.steps).toHaveLength(2);
      });
    }

    it("asks for an object by its schema", async () => {
      const { output } = await generateText({
        model: model(),
        prompt: '[[say:{"city":"Rome"}]]',
        output: Output.object({ schema: z.object({ city: z.string() }) }),
      });
      expect(output).toEqual({ city: "Rome" });
      expect((await api.gateway.sandbox.lastTurn()).prompt).toContain('"required":["city"]');
    });

    it("shows an image to a model that can see", async () => {
      const { text } = await generateText({
        model: model("provider-v4-vision"),
        maxOutputTokens: 1000,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "[[say:I see.]]" },
              { type: "file", mediaType: "image/png", data: PIXEL },
            ],
          },
        ],
      });
      expect(text).toBe("I see.");
      const turn = await api.gateway.sandbox.lastTurn();
      expect([turn.model, turn.file_ids.length]).toEqual(["vision", 1]);
    });

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
}
