import * as z from "zod";
import type { JsonSchema, ToolChoice, ToolDefinition } from "../../../core/conversation/tool.ts";
import type { WebSearch } from "../../../core/conversation/web-search.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseCacheControl } from "../shared/cache-control.ts";
import { jsonObject } from "../shared/field-schemas.ts";
import { unknownValueError } from "../shared/members.ts";
import { undeclaredToolError } from "../shared/tool-choice.ts";
import { parseWebSearch } from "../shared/web-search.ts";

/** One declared tool: the caller's own tool, a tool that the vendor defines, or a server tool. */
export const toolSchema = lazyLooseObject(() => ({
  type: z.string().nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: jsonObject.nullish(),
  strict: z.boolean().nullish(),
}));

function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: "object", properties, required };
}

const text = { type: "string" } as const;
const integer = { type: "integer" } as const;

/** Parameters of `create`, `str_replace` and `insert`. */
const EDIT_PARAMETERS = {
  path: text,
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: integer,
  insert_text: text,
};

/**
 * Tools that the vendor defines and the caller executes. Requests declare them by type only, so the gateway adds the
 * description and the schema that the model needs.
 */
const VENDOR_TOOLS: readonly (readonly [type: RegExp, description: string, parameters: JsonSchema])[] = [
  [
    /^bash_/,
    "Runs a command in a persistent shell and returns its output. `restart` starts the shell anew.",
    objectSchema({ command: text, restart: { type: "boolean" } }, []),
  ],
  [
    /^text_editor_/,
    "Views and edits files. `command` is view, create, str_replace or insert.",
    objectSchema(
      {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
        ...EDIT_PARAMETERS,
        view_range: { type: "array", items: integer },
      },
      ["command", "path"],
    ),
  ],
  [
    /^memory_/,
    "Keeps notes in files under /memories. `command` is view, create, str_replace, insert, delete or rename.",
    objectSchema(
      {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
        ...EDIT_PARAMETERS,
        old_path: text,
        new_path: text,
      },
      ["command"],
    ),
  ],
];

/**
 * Returns the tools that the caller executes. Server tools (web search and similar) would run in the gateway; they are
 * accepted but not offered to the model (docs/clients.md, assertion 33).
 */
export function toTools(tools: readonly z.output<typeof toolSchema>[]): ToolDefinition[] {
  return tools.flatMap((tool, index): ToolDefinition[] => {
    const type = tool.type ?? "custom";
    const vendor = VENDOR_TOOLS.find(([pattern]) => pattern.test(type));
    const parameters = tool.input_schema ?? vendor?.[2];
    if (parameters === undefined && type !== "custom") return [];
    const name = tool.name ?? "";
    if (name === "") throw invalidRequest(`tools[${index}].name is required`, `tools[${index}].name`);
    const description = tool.description ?? vendor?.[1];
    const definition: ToolDefinition = { name };
    if (description !== undefined) definition.description = description;
    if (parameters !== undefined) definition.parameters = parameters;
    if (tool.strict === true) definition.strict = true;
    const { cache } = parseCacheControl(tool);
    if (cache !== undefined) definition.cache = cache;
    return [definition];
  });
}

/** Returns the options of the vendor's web search tool if the request declares it and `tool_choice` allows tools. */
export function findWebSearch(
  tools: readonly z.output<typeof toolSchema>[],
  choice: z.output<ReturnType<typeof toolChoiceSchema>> | null | undefined,
): { webSearch?: WebSearch } {
  const choiceType = typeof choice === "string" ? choice : choice?.type;
  const tool = tools.find(({ type }) => /^web_search_\d/.test(type ?? ""));
  if (choiceType === "none" || tool === undefined) return {};
  const isForced =
    typeof choice === "object" && choiceType === "tool" && choice?.name === (tool.name ?? "web_search");
  return { webSearch: { ...parseWebSearch(tool), ...(isForced ? { isRequested: true } : {}) } };
}

/** `tool_choice`, in the form of the message-style SDKs and in the form of the contract (docs/clients.md, assertion 32). */
export const toolChoiceSchema = () =>
  z.union(
    [
      z.string(),
      z.looseObject({
        type: z.string().nullish(),
        name: z.string().nullish(),
        function: z.looseObject({ name: z.string() }).nullish(),
        disable_parallel_tool_use: z.boolean().nullish(),
      }),
    ],
    { error: "must be a string or an object" },
  );

/**
 * Returns which tools the model may or must call. If the request forces a server tool, the model chooses freely, because
 * the gateway does not offer that tool.
 *
 * @throws GatewayError 400 for an unknown choice, or for a tool that the request does not declare.
 */
export function toToolChoice(
  choice: z.output<ReturnType<typeof toolChoiceSchema>> | null | undefined,
  declared: readonly z.output<typeof toolSchema>[],
  tools: readonly ToolDefinition[],
): ToolChoice {
  if (choice === null || choice === undefined) return { type: "auto" };
  const name = typeof choice === "string" ? undefined : (choice.name ?? choice.function?.name);
  const type = typeof choice === "string" ? choice : (choice.type ?? (name === undefined ? "auto" : "tool"));
  switch (type) {
    case "auto":
    case "none":
      return { type };
    case "any":
    case "required":
      return { type: "required" };
    case "tool":
    case "function":
      if (name === undefined || name === "") {
        throw invalidRequest("tool_choice.name must name a tool", "tool_choice.name");
      }
      if (tools.some((tool) => tool.name === name)) return { type: "function", name };
      if (declared.some((tool) => tool.name === name)) return { type: "auto" };
      throw undeclaredToolError(name, "tool_choice.name");
    default:
      throw unknownValueError(type, "tool_choice", ["auto", "any", "tool", "none"]);
  }
}
