import createInstructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import * as z from "zod";

const City = z.object({ city: z.string(), people: z.number() });

/** Modes by the form of the answer: a tool call with the schema, or JSON in the text. */
const MODES = { TOOLS: "call", FUNCTIONS: "call", JSON: "text", JSON_SCHEMA: "text", MD_JSON: "text" };

/** This library only requests objects. @returns {import("./scenario.mjs").Program[]} */
export function programs({ base, key }) {
  const client = new OpenAI({ apiKey: key, baseURL: `${base}/v1`, maxRetries: 0 });
  return Object.entries(MODES).map(([mode, form]) => {
    const instructor = createInstructor({ client, mode });
    return {
      style: `chat completions, ${mode}`,
      streamsObjects: true,
      async object({ json, prompt, stream }) {
        const result = await instructor.chat.completions.create({
          model: "gpt-4o",
          messages: [{ role: "user", content: form === "call" ? `[[call:City:${json}]]` : prompt }],
          response_model: { schema: City, name: "City" },
          stream,
        });
        let last = result;
        if (stream) for await (const partial of result) last = partial;
        const { city, people } = last;
        return { city, people };
      },
    };
  });
}
