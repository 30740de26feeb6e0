import { ChatAnthropic } from "@langchain/anthropic";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOllama } from "@langchain/ollama";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import * as z from "zod";
import { WEATHER } from "./scenario.mjs";

const City = z.object({ city: z.string(), people: z.number() });

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key }) {
  const openai = { apiKey: key, configuration: { baseURL: `${base}/v1` }, maxRetries: 0 };
  return [
    program("chat completions", (streaming) => new ChatOpenAI({ ...openai, model: "gpt-4o", streaming })),
    program(
      "responses",
      (streaming) => new ChatOpenAI({ ...openai, model: "gpt-5", streaming, useResponsesApi: true }),
    ),
    program(
      "messages",
      (streaming) =>
        new ChatAnthropic({
          apiKey: key,
          anthropicApiUrl: `${base}/anthropic`,
          model: "claude-sonnet-4-5",
          streaming,
          maxRetries: 0,
        }),
    ),
    program(
      "content-generation",
      (streaming) =>
        new ChatGoogleGenerativeAI({
          apiKey: key,
          baseUrl: base,
          model: "gemini-2.5-pro",
          streaming,
          maxRetries: 0,
        }),
    ),
    program(
      "local-runner",
      (streaming) =>
        new ChatOllama({
          baseUrl: base,
          headers: { authorization: `Bearer ${key}` },
          model: "llama3.1",
          streaming,
          maxRetries: 0,
        }),
    ),
  ];
}

function program(style, model) {
  return {
    style,
    async converse({ prompt, stream, weather }) {
      const { name, description } = WEATHER;
      const schema = z.object({ city: z.string() });
      const agent = createAgent({
        model: model(stream),
        tools: [tool(weather, { name, description, schema })],
      });
      const input = { messages: [{ role: "user", content: prompt }] };
      if (!stream) return [(await agent.invoke(input)).messages.at(-1).text];
      const pieces = [];
      for await (const [chunk] of await agent.stream(input, { streamMode: "messages" })) {
        if (chunk.getType() === "ai") pieces.push(chunk.text);
      }
      return pieces;
    },
    async object({ prompt, json }) {
      // In the messages style it requests an object as a call of this tool.
      const question = style === "messages" ? `[[call:extract:${json}]]` : prompt;
      return model(false).withStructuredOutput(City).invoke(question);
    },
  };
}
