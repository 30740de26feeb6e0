import * as z from "zod";
import type { ToolChoice } from "../../conversation/tool.ts";
import { isObject } from "../../encoding/json.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { DeclaredTools } from "../shared/declared-tools.ts";
import { jsonObject } from "../shared/fields.ts";
import { optionalString } from "../shared/members.ts";
import { toToolChoice, undeclaredTool } from "../shared/tool-choice.ts";

const functionSchema = lazyLooseObject(() => ({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
  strict: z.boolean().nullish(),
}));

/** A tool, wrapped as the real API has it, or flat as in the responses style. */
const toolSchema = lazyLooseObject(() => ({
  type: z.string().optional(),
  function: functionSchema.optional(),
  custom: z
    .looseObject({ name: z.string().min(1), description: z.string().nullish(), format: jsonObject.nullish() })
    .optional(),
  name: z.string().nullish(),
}));

/** The fields by which a request declares tools, in the present form and in the older one. */
export const toolFields = () => ({
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.unknown().optional(),
  functions: z.array(functionSchema).nullish(),
  function_call: z.unknown().optional(),
});

type ToolFields = z.output<z.ZodObject<ReturnType<typeof toolFields>>>;

/** How the caller knows the tools that the model calls. */
export interface CalledAs {
  readonly tools: DeclaredTools;
  /** They were declared as `functions`: an answer has one call, as `function_call`. */
  readonly legacy: boolean;
}

const LEGACY = "function_call";

/** The older `function_call`. Throws 400 for one that names no declared function. */
function legacyChoice(value: unknown, tools: DeclaredTools): ToolChoice {
  if (value === undefined || value === null || value === "auto") return { type: "auto" };
  if (value === "none") return { type: "none" };
  const name = isObject(value) ? optionalString(value, "name") : undefined;
  if (name === undefined) throw invalidRequest("function_call must be auto, none or name a function", LEGACY);
  if (!tools.has(name)) throw undeclaredTool(name, LEGACY);
  return { type: "function", name };
}

/** The tools of a request, in the present form or in the older one, which knows one call an answer. */
export function toTools(body: ToolFields): CalledAs & { readonly toolChoice: ToolChoice } {
  const tools = new DeclaredTools();
  const legacy = (body.functions?.length ?? 0) > 0;
  if (!legacy) {
    tools.add(body.tools, "tools");
    return { tools, legacy, toolChoice: toToolChoice(body.tool_choice, tools) };
  }
  if ((body.tools?.length ?? 0) > 0) {
    throw invalidRequest("functions: a request declares either tools or functions", "functions");
  }
  tools.add(body.functions, "functions");
  return { tools, legacy, toolChoice: legacyChoice(body.function_call, tools) };
}
