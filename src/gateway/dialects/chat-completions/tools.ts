import * as z from "zod";
import type { ToolChoice } from "../../../core/conversation/tool.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { DeclaredTools } from "../shared/declared-tools.ts";
import { jsonObject } from "../shared/field-schemas.ts";
import { optionalString } from "../shared/members.ts";
import { toToolChoice, undeclaredToolError } from "../shared/tool-choice.ts";

const functionSchema = lazyLooseObject(() => ({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
  strict: z.boolean().nullish(),
}));

/** A tool: nested under `function` or `custom` as in the real API, or flat as in the responses style. */
const toolSchema = lazyLooseObject(() => ({
  type: z.string().optional(),
  function: functionSchema.optional(),
  custom: z
    .looseObject({ name: z.string().min(1), description: z.string().nullish(), format: jsonObject.nullish() })
    .optional(),
  name: z.string().nullish(),
}));

/** Request fields that declare tools, in the current form and in the legacy form. */
export const toolFields = () => ({
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.unknown().optional(),
  functions: z.array(functionSchema).nullish(),
  function_call: z.unknown().optional(),
});

type ToolFields = z.output<z.ZodObject<ReturnType<typeof toolFields>>>;

/** The declared tools, needed to write tool calls under the names that the caller knows. */
export interface CallerTools {
  readonly tools: DeclaredTools;
  /** The request declared `functions`: the answer has at most one call, in `function_call`. */
  readonly isLegacy: boolean;
}

const LEGACY_FIELD = "function_call";

/**
 * Translates the legacy field `function_call`.
 *
 * @throws GatewayError 400 if it names an undeclared function.
 */
function toLegacyToolChoice(value: unknown, tools: DeclaredTools): ToolChoice {
  if (value === undefined || value === null || value === "auto") return { type: "auto" };
  if (value === "none") return { type: "none" };
  const name = isObject(value) ? optionalString(value, "name") : undefined;
  if (name === undefined)
    throw invalidRequest("function_call must be auto, none or name a function", LEGACY_FIELD);
  if (!tools.has(name)) throw undeclaredToolError(name, LEGACY_FIELD);
  return { type: "function", name };
}

/**
 * Translates the tools of a request, in the current or in the legacy form. The legacy form allows one call per answer.
 */
export function toTools(body: ToolFields): CallerTools & { readonly toolChoice: ToolChoice } {
  const tools = new DeclaredTools();
  const isLegacy = (body.functions?.length ?? 0) > 0;
  if (!isLegacy) {
    tools.add(body.tools, "tools");
    return { tools, isLegacy, toolChoice: toToolChoice(body.tool_choice, tools) };
  }
  if ((body.tools?.length ?? 0) > 0) {
    throw invalidRequest("functions: a request declares either tools or functions", "functions");
  }
  tools.add(body.functions, "functions");
  return { tools, isLegacy, toolChoice: toLegacyToolChoice(body.function_call, tools) };
}
