import { Anthropic, AnthropicSession } from "@llamaindex/anthropic";
import { Gemini } from "@llamaindex/google";
import { Ollama } from "@llamaindex/ollama";
import { OpenAI, OpenAIResponses } from "@llamaindex/openai";
import { agent, agentStreamEvent } from "@llamaindex/workflow";
import { tool } from "llamaindex";
import { z } from "zod";
import { WEATHER } from "./scenario.mjs";

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key: apiKey }) {
  const openai = { apiKey, baseURL: `${base}/v1`, maxRetries: 0 };
  return [
    program("chat completions", new OpenAI({ ...openai, model: "gpt-4o" })),
    program("responses", new OpenAIResponses({ ...openai, model: "gpt-4o" }), {
      "text, streamed": "it repeats the last piece of a text with each event that follows it",
    }),
    program(
      "messages",
      new Anthropic({
        model: "claude-sonnet-4-5",
        session: new AnthropicSession({ apiKey, baseURL: `${base}/anthropic` }),
      }),
    ),
    program(
      "content-generation",
      new Gemini({ model: "gemini-2.5-pro", apiKey, httpOptions: { baseUrl: base } }),
    ),
    program(
      "local-runner",
      new Ollama({
        model: "llama3.1",
        config: { host: base, headers: { authorization: `Bearer ${apiKey}` } },
      }),
      // So the results reach a provider as text, of which the sandbox quotes the first one only.
      { "two calls": "its plugin repeats results without the calls before them" },
    ),
  ];
}

function program(style, llm, limits) {
  return {
    style,
    limits,
    async converse({ prompt, stream, weather }) {
      const { name, description } = WEATHER;
      const tools = [
        tool({
          name,
          description,
          parameters: z.object({ city: z.string() }),
          execute: (input) => weather(input),
        }),
      ];
      // Its agents always stream. For whole answers, use its models directly.
      if (!stream) return [await converseWhole(llm, prompt, tools)];
      const pieces = [];
      for await (const event of agent({ llm, tools }).runStream(prompt)) {
        if (agentStreamEvent.include(event)) pieces.push(event.data.delta);
      }
      return pieces;
    },
  };
}

async function converseWhole(llm, prompt, tools) {
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const { message } = await llm.chat({ messages, tools });
    messages.push(message);
    const calls = message.options?.toolCall ?? [];
    if (calls.length === 0) return textOf(message);
    for (const { id, name, input } of calls) {
      const { call } = tools.find(({ metadata }) => metadata.name === name);
      const result = call(typeof input === "string" ? JSON.parse(input) : input);
      messages.push({
        role: "user",
        content: result,
        options: { toolResult: { id, name, result, isError: false } },
      });
    }
  }
}

const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
