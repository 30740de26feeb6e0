import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import * as z from "zod";
import { WEATHER } from "./scenario.mjs";

const City = z.object({ city: z.string(), people: z.number() });

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key }) {
  setTracingDisabled(true);
  const provider = (options) => new OpenAIProvider({ apiKey: key, baseURL: `${base}/v1`, ...options });
  return [
    program("chat completions", provider({ useResponses: false }), "gpt-4o"),
    program("responses", provider({ useResponses: true }), "gpt-5"),
    program(
      "responses over WebSocket",
      provider({ useResponses: true, useResponsesWebSocket: true }),
      "gpt-5",
    ),
  ];
}

function program(style, modelProvider, model) {
  const runner = new Runner({ modelProvider });
  async function run(agent, prompt, stream) {
    const result = await runner.run(agent, prompt, { stream });
    if (!stream) return { result, pieces: [] };
    const pieces = [];
    for await (const piece of result.toTextStream({ compatibleWithNodeStreams: false })) pieces.push(piece);
    await result.completed;
    if (result.error) throw result.error;
    return { result, pieces };
  }
  return {
    style,
    streamsObjects: true,
    async converse({ prompt, stream, weather }) {
      const { name, description } = WEATHER;
      const weatherTool = tool({
        name,
        description,
        parameters: z.object({ city: z.string() }),
        execute: weather,
      });
      const agent = new Agent({ name: "Assistant", instructions: "Be kind.", model, tools: [weatherTool] });
      const { result, pieces } = await run(agent, prompt, stream);
      return stream ? pieces : [result.finalOutput];
    },
    async object({ prompt, stream }) {
      const agent = new Agent({ name: "Assistant", instructions: "Be kind.", model, outputType: City });
      return (await run(agent, prompt, stream)).result.finalOutput;
    },
  };
}
