import { isObject } from "../../../core/encoding/json.ts";

/** Keywords that have the same meaning in JSON Schema and in the protocol's own schemas. */
const SHARED_KEYWORDS = [
  "title",
  "description",
  "format",
  "nullable",
  "required",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "pattern",
];

/**
 * Converts a JSON Schema into the protocol's own schema format, for backends that support no other: one type, only
 * strings in enumerations, no references. Other constraints are dropped, so the result may allow more.
 */
export function toGeminiSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const keyword of SHARED_KEYWORDS)
    if (schema[keyword] !== undefined) converted[keyword] = schema[keyword];
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  const [type] = types.filter((name) => name !== "null");
  if (type !== undefined) converted["type"] = type.toUpperCase();
  if (types.includes("null")) converted["nullable"] = true;
  const choices = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === "string"))
    converted["enum"] = choices;
  const { items, properties } = schema;
  if (isObject(items)) converted["items"] = toGeminiSchema(items);
  if (isObject(properties)) {
    converted["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [
        name,
        isObject(member) ? toGeminiSchema(member) : {},
      ]),
    );
  }
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(options)) converted["anyOf"] = options.filter(isObject).map(toGeminiSchema);
  return converted;
}
