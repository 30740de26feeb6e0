import { anthropic } from "@genkit-ai/anthropic";
import { openAI } from "@genkit-ai/compat-oai/openai";
import { googleAI } from "@genkit-ai/google-genai";
import { genkit, z } from "genkit";
import { ollama } from "genkitx-ollama";
import { WEATHER } from "./scenario.mjs";

const City = z.object({ city: z.string(), people: z.number() });

/** Whether this limit occurs depends on the network. */
const ONE_LINE_A_READ = Object.fromEntries(
  ["text", "one call", "two calls", "object"].map((column) => [
    `${column}, streamed`,
    "its plugin takes each read from the network for exactly one line of JSON",
  ]),
);

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key }) {
  // This plugin has no option for the base URL.
  process.env.ANTHROPIC_BASE_URL = `${base}/anthropic`;
  const ai = genkit({
    plugins: [
      openAI({ apiKey: key, baseURL: `${base}/v1` }),
      anthropic({ apiKey: key }),
      googleAI({ apiKey: key, baseUrl: base }),
      ollama({
        serverAddress: base,
        models: [{ name: "llama3.1", type: "chat", supports: { tools: true } }],
        requestHeaders: { authorization: `Bearer ${key}` },
      }),
    ],
  });
  return [
    program(ai, "chat completions", openAI.model("gpt-4o")),
    program(ai, "messages", anthropic.model("claude-sonnet-4-5"), {
      object: "its plugin refuses any output format but text",
    }),
    program(ai, "content-generation", googleAI.model("gemini-2.5-pro")),
    program(ai, "local-runner", "ollama/llama3.1", ONE_LINE_A_READ),
  ];
}

function program(ai, style, model, limits) {
  const schemas = { inputSchema: z.object({ city: z.string() }), outputSchema: z.string() };
  return {
    style,
    limits,
    streamsObjects: true,
    async converse({ prompt, stream, weather }) {
      const { name, description } = WEATHER;
      const tools = [ai.dynamicTool({ name, description, ...schemas }, async (input) => weather(input))];
      if (!stream) return [(await ai.generate({ model, prompt, tools })).text];
      const { stream: chunks, response } = ai.generateStream({ model, prompt, tools });
      const pieces = [];
      for await (const chunk of chunks) pieces.push(chunk.text);
      const { text } = await response;
      return pieces.join("").endsWith(text) ? pieces : [`the pieces lack: ${text}`];
    },
    async object({ prompt, stream }) {
      const request = { model, prompt, output: { schema: City } };
      if (!stream) return (await ai.generate(request)).output;
      const { stream: chunks, response } = ai.generateStream(request);
      for await (const _ of chunks);
      return (await response).output;
    },
  };
}
