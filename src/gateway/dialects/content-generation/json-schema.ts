import type { JsonSchema } from "../../../core/conversation/tool.ts";
import { isObject } from "../../../core/encoding/json.ts";

/** Keywords whose value is a schema, a list of schemas, or a map from names to schemas. */
const SCHEMA_KEYWORDS = new Set(["items", "additionalProperties", "not"]);
const SCHEMA_LIST_KEYWORDS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAP_KEYWORDS = new Set(["properties", "$defs", "defs", "patternProperties"]);
/** Keywords with a number. This style sends 64-bit integers as strings. */
const COUNT_KEYWORDS = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);

function convertSubschema(value: unknown): unknown {
  return isObject(value) ? toJsonSchema(value) : value;
}

function toTypeName(value: unknown): unknown {
  if (typeof value === "string") return value.toLowerCase();
  return Array.isArray(value) ? value.map(toTypeName) : value;
}

/**
 * Converts a schema of this style (upper-case types, `nullable`, counts as strings) to JSON Schema. Keywords that are
 * already JSON Schema stay unchanged (docs/clients.md, assertion 42).
 */
export function toJsonSchema(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const converted: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "nullable" || keyword === "propertyOrdering") continue;
    if (keyword === "type") {
      if (value !== "TYPE_UNSPECIFIED") converted["type"] = toTypeName(value);
    } else if (keyword === "format" && value === "enum") {
      // Redundant: the keyword `enum` has the same meaning.
    } else if (SCHEMA_KEYWORDS.has(keyword)) converted[keyword] = convertSubschema(value);
    else if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
      converted[keyword] = value.map(convertSubschema);
    else if (SCHEMA_MAP_KEYWORDS.has(keyword) && isObject(value)) {
      converted[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convertSubschema(member)]),
      );
    } else if (COUNT_KEYWORDS.has(keyword) && typeof value === "string" && Number.isFinite(Number(value))) {
      converted[keyword] = Number(value);
    } else converted[keyword] = value;
  }
  const { type } = converted;
  if (schema["nullable"] === true && typeof type === "string") converted["type"] = [type, "null"];
  return converted;
}
