import type { SandboxCall } from "./markup.ts";

/** A tool definition in any API style, or a JSON schema: only the members that the sandbox reads. */
interface JsonObject {
  readonly name?: unknown;
  readonly function?: unknown;
  readonly parameters?: unknown;
  readonly input_schema?: unknown;
  readonly schema?: unknown;
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly default?: unknown;
  readonly examples?: unknown;
  readonly anyOf?: unknown;
  readonly oneOf?: unknown;
  readonly items?: unknown;
  readonly properties?: unknown;
  readonly required?: unknown;
  readonly [key: string]: unknown;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Matches the subject of a question: "what's the weather", "how is the current price". */
const QUESTION = /\b(?:what|how)(?:['\u2019]s|\s+is)\s+the\s+(?:current\s+)?([a-z]+)/gi;

/**
 * Finds tool calls that the user requests in plain words ("use the tool NAME", "call the get_weather function"), or whose
 * tool would answer the question ("what's the weather": `weather` or `get_weather`). Only tools that the text before the
 * user's message describes. The arguments are generated from the schema near the tool's name.
 */
export function findRequestedCalls(user: string, before: string): SandboxCall[] {
  if (!before.includes("tool_calls")) return [];
  const asked =
    /\b(?:use|call|invoke|run)\s+(?:the\s+|a\s+)?(?:(?:tool|function)s?\s+)?(?:named\s+|called\s+)?[`"'\u201c]?([A-Za-z_][\w.-]*)/gi;
  const names = new Set<string>();
  for (const match of user.matchAll(asked)) {
    const name = match[1]?.replace(/[.-]+$/, "");
    if (name !== undefined && isOffered(name, before)) names.add(name);
  }
  for (const [, word = ""] of user.matchAll(QUESTION)) {
    // A description may be this one word, too.
    const name = [`get_${word}`, word].find((each) => isOffered(each, before));
    if (name !== undefined) names.add(name);
  }
  return [...names].map((name) => ({ name, args: plausibleArguments(findSchema(name, before), user) }));
}

/** Common words such as "the" also occur in instructions. A tool's name occurs in quotes, a heading or a list. */
function isOffered(name: string, before: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    `(?:["'\`*]|^[#*\\-\\s]*(?:\\d+\\.\\s*)?(?:Tool|Function|Name)?:?\\s*)${escaped}(?:["'\`*:(]|\\s*$)`,
    "m",
  ).test(before);
}

/**
 * Returns the JSON schema of a tool's arguments: from an object that names the tool, or the first schema after its name.
 */
function findSchema(name: string, before: string): JsonObject {
  let fallback: JsonObject | undefined;
  const firstMention = before.indexOf(name);
  for (const { value, start } of findJsonObjects(before)) {
    const declared = isObject(value.function) ? value.function : value;
    if (declared.name === name) {
      const schema = declared.parameters ?? declared.input_schema ?? declared.schema;
      if (isObject(schema)) return schema;
    }
    if (fallback === undefined && start > firstMention && isObject(value.properties)) fallback = value;
  }
  return fallback ?? {};
}

/** Returns the outermost JSON objects in a text, in order. Skips text that only looks like an object. */
function* findJsonObjects(text: string): Generator<{ value: JsonObject; start: number }> {
  let at = text.indexOf("{");
  while (at !== -1) {
    const end = endOfObject(text, at);
    const value = end === -1 ? undefined : tryParse(text.slice(at, end));
    if (isObject(value)) yield { value, start: at };
    at = text.indexOf("{", isObject(value) ? end : at + 1);
  }
}

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character === "\\") index++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return index + 1;
  }
  return -1;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function plausibleArguments(schema: JsonObject, user: string): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties);
  const args: Record<string, unknown> = {};
  for (const name of required) {
    if (typeof name === "string") args[name] = plausibleValue(properties[name], user);
  }
  return args;
}

function plausibleValue(schema: unknown, user: string): unknown {
  if (!isObject(schema)) return findSubject(user);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) return plausibleValue(union[0], user);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "number" || type === "integer") return Number(user.match(/\d+/)?.[0] ?? 1);
  if (type === "boolean") return true;
  if (type === "null") return null;
  if (type === "array") return [plausibleValue(schema.items, user)];
  if (type === "object") return plausibleArguments(schema, user);
  return findSubject(user);
}

/**
 * Returns the subject of the user's message: a quoted text, else a name after "in", "for", "with", "of" or "about", else
 * "sandbox".
 */
function findSubject(user: string): string {
  const quoted = user.match(/["\u201c]([^"\u201d]+)["\u201d]/)?.[1];
  const named = user.match(/\b(?:in|for|with|of|about)\s+([A-Z][\p{L}-]*(?: [A-Z][\p{L}-]*)*)/u)?.[1];
  return quoted ?? named ?? "sandbox";
}
