import type { JsonSchema } from "../../conversation/tool.ts";
import { isObject } from "../../encoding/json.ts";

/** Keywords whose value is a schema, a list of schemas, or a map from names to schemas. */
const SINGLE = new Set(["items", "additionalProperties", "not"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED = new Set(["properties", "$defs", "defs", "patternProperties"]);
/** Keywords with a number. This style sends 64-bit integers as strings. */
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"]);

function convert(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value;
}

function typeName(value: unknown): unknown {
  if (typeof value === "string") return value.toLowerCase();
  return Array.isArray(value) ? value.map(typeName) : value;
}

/**
 * Converts a schema of this style (upper-case types, `nullable`, counts as strings) to JSON Schema. Keywords that are
 * already JSON Schema stay unchanged (client assertion 42).
 */
export function toJsonSchema(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const converted: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "nullable" || keyword === "propertyOrdering") continue;
    if (keyword === "type") {
      if (value !== "TYPE_UNSPECIFIED") converted["type"] = typeName(value);
    } else if (keyword === "format" && value === "enum") {
      // Redundant: the keyword `enum` has the same meaning.
    } else if (SINGLE.has(keyword)) converted[keyword] = convert(value);
    else if (LISTS.has(keyword) && Array.isArray(value)) converted[keyword] = value.map(convert);
    else if (NAMED.has(keyword) && isObject(value)) {
      converted[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convert(member)]),
      );
    } else if (COUNTS.has(keyword) && typeof value === "string" && Number.isFinite(Number(value))) {
      converted[keyword] = Number(value);
    } else converted[keyword] = value;
  }
  const { type } = converted;
  if (schema["nullable"] === true && typeof type === "string") converted["type"] = [type, "null"];
  return converted;
}
