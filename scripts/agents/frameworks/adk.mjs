import { FunctionTool, Gemini, InMemoryRunner, LlmAgent, StreamingMode } from "@google/adk";
import * as z from "zod";
import { WEATHER } from "./scenario.mjs";

const City = z.object({ city: z.string(), people: z.number() });

/** @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key }) {
  // ADK's client for the content-generation style has no option for the base URL.
  process.env.GOOGLE_GEMINI_BASE_URL = base;
  const model = new Gemini({ model: "gemini-2.5-pro", apiKey: key });

  async function run(agent, prompt, stream) {
    const runner = new InMemoryRunner({ agent, appName: "app" });
    const session = await runner.sessionService.createSession({ appName: "app", userId: "user" });
    const events = runner.runAsync({
      userId: "user",
      sessionId: session.id,
      newMessage: { role: "user", parts: [{ text: prompt }] },
      runConfig: { streamingMode: stream ? StreamingMode.SSE : StreamingMode.NONE },
    });
    const pieces = [];
    for await (const event of events) {
      if (event.errorCode) throw new Error(`${event.errorCode}: ${event.errorMessage}`);
      // After streaming, the complete text arrives once more; skip it.
      if (stream && !event.partial) continue;
      for (const part of event.content?.parts ?? []) if (part.text && !part.thought) pieces.push(part.text);
    }
    return pieces;
  }

  return [
    {
      style: "content-generation",
      streamsObjects: true,
      converse({ prompt, stream, weather }) {
        const { name, description } = WEATHER;
        const tool = new FunctionTool({
          name,
          description,
          parameters: z.object({ city: z.string() }),
          execute: (input) => ({ result: weather(input) }),
        });
        const agent = new LlmAgent({ name: "assistant", model, instruction: "Be kind.", tools: [tool] });
        return run(agent, prompt, stream);
      },
      async object({ prompt, stream }) {
        const agent = new LlmAgent({ name: "assistant", model, instruction: "Be kind.", outputSchema: City });
        return JSON.parse((await run(agent, prompt, stream)).join(""));
      },
    },
  ];
}
