import * as z from "zod/mini";
import type { Tool } from "../../../../gateway/dialects/playground/types.ts";
import { textField } from "../../api/fields.ts";
import { texts } from "./texts.ts";

const schema = z.array(
  z.object({
    name: z.string().check(z.minLength(1)),
    description: textField,
    parameters: z._default(z.unknown(), { type: "object", properties: {} }),
  }),
);

/** Initial content of the tools field. */
export const SAMPLE_TOOLS = JSON.stringify(
  [
    {
      name: "get_weather",
      description: "The weather in a city at this moment.",
      parameters: {
        type: "object",
        properties: { city: { type: "string", description: "Name of the city" } },
        required: ["city"],
      },
    },
  ],
  null,
  2,
);

/** Parses the tool definitions. `problem` describes an error; empty: no error. */
export function parseTools(source: string): { readonly tools: readonly Tool[]; readonly problem: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch (error) {
    return { tools: [], problem: texts.invalidToolJson(error instanceof Error ? error.message : error) };
  }
  const result = schema.safeParse(parsed);
  if (result.success) return { tools: result.data, problem: "" };
  return { tools: [], problem: texts.toolsMustBeList };
}
