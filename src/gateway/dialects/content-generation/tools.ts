import * as z from "zod";
import type { ToolChoice, ToolDefinition } from "../../../core/conversation/tool.ts";
import type { WebSearch } from "../../../core/conversation/web-search.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { withAliasForms } from "../../../core/routing/alias-forms.ts";
import { jsonObject } from "../shared/field-schemas.ts";
import { unknownValueError } from "../shared/members.ts";
import { undeclaredToolError } from "../shared/tool-choice.ts";
import { parseWebSearch } from "../shared/web-search.ts";
import { camelOrSnakeObject } from "./field-names.ts";
import { toJsonSchema } from "./json-schema.ts";

const declarationSchema = camelOrSnakeObject(() => ({
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: jsonObject.nullish(),
  parametersJsonSchema: z.unknown().optional(),
}));

const groupSchema = camelOrSnakeObject(() => ({
  functionDeclarations: z.array(declarationSchema).nullish(),
  googleSearch: jsonObject.nullish(),
  googleSearchRetrieval: jsonObject.nullish(),
}));

/**
 * `tools`: groups of function declarations. Except web search, the gateway ignores tools that run on the vendor's servers.
 */
export const toolsSchema = withAliasForms(
  z.array(groupSchema),
  () => [groupSchema],
  (value) => (isObject(value) ? [value] : value),
);

export const toolConfigSchema = camelOrSnakeObject(() => ({
  functionCallingConfig: camelOrSnakeObject(() => ({
    mode: z.string().nullish(),
    allowedFunctionNames: z.array(z.string()).nullish(),
  })).nullish(),
}));

/** Returns the options of the vendor's web search tool if the request declares it. */
export function findWebSearch(groups: z.output<typeof toolsSchema> | null | undefined): {
  webSearch?: WebSearch;
} {
  for (const { googleSearch, googleSearchRetrieval } of groups ?? []) {
    const tool = googleSearch ?? googleSearchRetrieval;
    if (tool) return { webSearch: parseWebSearch(tool) };
  }
  return {};
}

function toDefinition(declaration: z.output<typeof declarationSchema>): ToolDefinition {
  const definition: ToolDefinition = { name: declaration.name };
  if (typeof declaration.description === "string") definition.description = declaration.description;
  if (isObject(declaration.parametersJsonSchema)) definition.parameters = declaration.parametersJsonSchema;
  else if (declaration.parameters) definition.parameters = toJsonSchema(declaration.parameters);
  return definition;
}

const ALLOWED_FUNCTIONS_FIELD = "toolConfig.functionCallingConfig.allowedFunctionNames";

/**
 * Returns the functions that the model may call, and whether it must call one (docs/clients.md, assertions 42 and 43). If
 * `allowedFunctionNames` is set, only these functions are offered. `ANY` with one allowed name forces that function.
 *
 * @throws GatewayError 400 for an unknown mode, or an allowed function that is not declared.
 */
export function toTools(
  groups: z.output<typeof toolsSchema> | null | undefined,
  config: z.output<typeof toolConfigSchema> | null | undefined,
): { tools: ToolDefinition[]; toolChoice: ToolChoice } {
  const definitions = (groups ?? []).flatMap((group) => (group.functionDeclarations ?? []).map(toDefinition));
  const callingConfig = config?.functionCallingConfig;
  const allowed = callingConfig?.allowedFunctionNames ?? [];
  const unknown = allowed.find((name) => !definitions.some((tool) => tool.name === name));
  if (unknown !== undefined) throw undeclaredToolError(unknown, ALLOWED_FUNCTIONS_FIELD);
  const tools = allowed.length === 0 ? definitions : definitions.filter(({ name }) => allowed.includes(name));
  const mode = callingConfig?.mode?.toUpperCase() ?? "AUTO";
  switch (mode) {
    case "AUTO":
    case "MODE_UNSPECIFIED":
    case "VALIDATED":
      return { tools, toolChoice: { type: "auto" } };
    case "NONE":
      return { tools, toolChoice: { type: "none" } };
    case "ANY": {
      const [name, ...otherNames] = allowed;
      if (name === undefined || otherNames.length > 0) return { tools, toolChoice: { type: "required" } };
      return { tools, toolChoice: { type: "function", name } };
    }
    default: {
      const field = "toolConfig.functionCallingConfig.mode";
      throw unknownValueError(callingConfig?.mode, field, ["AUTO", "VALIDATED", "ANY", "NONE"]);
    }
  }
}
