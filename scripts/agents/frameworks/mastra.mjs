import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import * as z from "zod";
import { WEATHER } from "./scenario.mjs";

const City = z.object({ city: z.string(), people: z.number() });

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key: apiKey }) {
  const openai = createOpenAI({ apiKey, baseURL: `${base}/v1` });
  const compatible = createOpenAICompatible({ name: "polygate", apiKey, baseURL: `${base}/v1` });
  const anthropic = createAnthropic({ apiKey, baseURL: `${base}/anthropic/v1` });
  const google = createGoogleGenerativeAI({ apiKey, baseURL: `${base}/v1beta` });
  return [
    program("chat completions (compatible)", compatible("gpt-4o")),
    program("chat completions", openai.chat("gpt-4o")),
    program("chat completions (own client)", { id: "polygate/gpt-4o", url: `${base}/v1`, apiKey }),
    program("responses", openai.responses("gpt-5")),
    program("messages", anthropic("claude-sonnet-4-5")),
    program("content-generation", google("gemini-2.5-pro")),
  ];
}

function program(style, model) {
  const agent = (tools) =>
    new Agent({ id: "assistant", name: "Assistant", instructions: "Be kind.", model, tools });
  return {
    style,
    streamsObjects: true,
    async converse({ prompt, stream, weather }) {
      const { name, description } = WEATHER;
      const tool = createTool({
        id: name,
        description,
        inputSchema: z.object({ city: z.string() }),
        execute: async (input) => weather(input),
      });
      const assistant = agent({ [name]: tool });
      if (!stream) {
        const result = await assistant.generate(prompt);
        if (result.error) throw result.error;
        return [result.text];
      }
      const result = await assistant.stream(prompt);
      const pieces = [];
      for await (const piece of result.textStream) pieces.push(piece);
      if (result.error) throw result.error;
      return pieces;
    },
    async object({ prompt, stream }) {
      const options = { structuredOutput: { schema: City } };
      if (!stream) return (await agent({}).generate(prompt, options)).object;
      const result = await agent({}).stream(prompt, options);
      for await (const _ of result.objectStream);
      return result.object;
    },
  };
}
