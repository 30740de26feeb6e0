import type { ToolChoice } from "../../../core/conversation/tool.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { type GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { DeclaredTools } from "./declared-tools.ts";
import { optionalString, unknownValueError } from "./members.ts";

const TOOL_CHOICE_FIELD = "tool_choice";

/** Matches the types of tools that only the real service can run. */
const HOSTED_TOOL_TYPES =
  /^(?:web_search|file_search|code_interpreter|image_generation|computer|mcp|tool_search|shell|local_shell|apply_patch)/;

/** Creates the 400 for a tool that the request does not declare. `param` is the field that names it. */
export function undeclaredToolError(name: string, param: string): GatewayError {
  return invalidRequest(`${param} names ${JSON.stringify(name)}, which tools does not declare`, param);
}

/**
 * Returns the flat name of the function or free-text tool that a nested or flat object names.
 *
 * @throws GatewayError 400 for a missing or undeclared name.
 */
function resolveNamedTool(choice: JsonObject, type: string, tools: DeclaredTools, param: string): string {
  const nested = choice[type];
  const tool = isObject(nested) ? nested : choice;
  const name = optionalString(tool, "name");
  if (name === undefined || name === "") throw invalidRequest(`${param} must name a function`, param);
  const namespace = optionalString(tool, "namespace");
  if (!tools.has(name, namespace)) throw undeclaredToolError(name, param);
  return tools.getFlatName(name, namespace);
}

/**
 * Applies `{type: "allowed_tools", mode, tools}`, which the chat-completions style nests one level deeper: only the listed
 * tools are offered. Tools that only the real service can run are ignored.
 */
function applyAllowedTools(choice: JsonObject, tools: DeclaredTools): ToolChoice {
  const nested = choice["allowed_tools"];
  const [allowed, fieldPath] = isObject(nested)
    ? [nested, `${TOOL_CHOICE_FIELD}.allowed_tools`]
    : [choice, TOOL_CHOICE_FIELD];
  const mode = allowed["mode"] ?? "auto";
  if (mode !== "auto" && mode !== "required") {
    throw invalidRequest(`${fieldPath}.mode must be auto or required`, `${fieldPath}.mode`);
  }
  const listed = allowed["tools"];
  if (!Array.isArray(listed))
    throw invalidRequest(`${fieldPath}.tools must be an array`, `${fieldPath}.tools`);
  const names = new Set<string>();
  for (const [index, tool] of listed.entries()) {
    const param = `${fieldPath}.tools[${index}]`;
    if (!isObject(tool)) throw invalidRequest(`${param} must be an object`, param);
    const type = optionalString(tool, "type") ?? "function";
    if (type === "function" || type === "custom") names.add(resolveNamedTool(tool, type, tools, param));
    else if (!HOSTED_TOOL_TYPES.test(type)) throw undeclaredToolError(type, param);
  }
  tools.retainOnly(names);
  return { type: names.size === 0 ? "auto" : mode };
}

/**
 * Translates `tool_choice` of the chat-completions and responses styles, in all forms that clients send
 * (docs/clients.md, assertions 9 and 17). Removes the tools that it does not allow from `tools`. If it forces a tool
 * that only the real service can run, the model chooses.
 *
 * @throws GatewayError 400 for an unknown choice, a function without a name, or a function that `tools` does not declare.
 */
export function toToolChoice(value: unknown, tools: DeclaredTools): ToolChoice {
  if (value === undefined || value === null) return { type: "auto" };
  if (typeof value === "string") {
    if (value === "auto" || value === "none" || value === "required") return { type: value };
    if (value === "any") return { type: "required" };
    throw unknownValueError(value, TOOL_CHOICE_FIELD, ["auto", "none", "required"]);
  }
  if (!isObject(value)) throw invalidRequest("tool_choice must be a string or an object", TOOL_CHOICE_FIELD);
  const isNamed = isObject(value["function"]) || typeof value["name"] === "string";
  const type = optionalString(value, "type") ?? (isNamed ? "function" : undefined);
  if (type === undefined) throw invalidRequest("tool_choice.type is required", TOOL_CHOICE_FIELD);
  if (type === "auto" || type === "none" || type === "required") return { type };
  if (type === "allowed_tools") return applyAllowedTools(value, tools);
  if (type === "function" || type === "custom") {
    return { type: "function", name: resolveNamedTool(value, type, tools, TOOL_CHOICE_FIELD) };
  }
  if (HOSTED_TOOL_TYPES.test(type)) return { type: "auto" };
  const types = ["function", "custom", "allowed_tools"];
  throw unknownValueError(type, `${TOOL_CHOICE_FIELD}.type`, types, TOOL_CHOICE_FIELD);
}
