import { isObject } from "../../encoding/json.ts";

/** Keywords of the protocol's own schemas that mean what they mean in JSON Schema. */
const KEPT = [
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
 * A JSON Schema in the protocol's own terms, for backends that know no others: one type each, texts alone in enumerations,
 * and nothing that refers elsewhere. What cannot be said in them is left out: such a schema allows more.
 */
export function ownSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  for (const keyword of KEPT) if (schema[keyword] !== undefined) own[keyword] = schema[keyword];
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  const [type] = types.filter((name) => name !== "null");
  if (type !== undefined) own["type"] = type.toUpperCase();
  if (types.includes("null")) own["nullable"] = true;
  const choices = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === "string")) own["enum"] = choices;
  const { items, properties } = schema;
  if (isObject(items)) own["items"] = ownSchema(items);
  if (isObject(properties)) {
    own["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, isObject(member) ? ownSchema(member) : {}]),
    );
  }
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(options)) own["anyOf"] = options.filter(isObject).map(ownSchema);
  return own;
}
