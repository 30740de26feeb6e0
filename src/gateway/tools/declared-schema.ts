import { isObject, type JsonObject } from "../../core/encoding/json.ts";

/** The type of a JSON value. */
export type JsonType = "string" | "number" | "boolean" | "null" | "array" | "object";

/** Most steps to analyse one schema: references may be circular or multiply. */
const MAX_STEPS = 256;
/** Most alternatives of a schema. A schema with more is treated as unknown. */
const MAX_ALTERNATIVES = 32;

/** A value must satisfy one of these schemas. Null: unknown. */
type Alternatives = readonly JsonObject[] | null;

/**
 * The declared types, members and items of a value, as far as they decide how to read the value. It follows references
 * within the schema and combinations of schemas. Parts that it does not understand declare nothing.
 */
export class DeclaredSchema {
  /** Nothing is declared: any value is allowed. */
  static readonly ANYTHING = new DeclaredSchema(null, {});

  readonly #alternatives: Alternatives;
  readonly #root: JsonObject;
  readonly #members = new Map<string, DeclaredSchema>();
  readonly #items = new Map<number, DeclaredSchema>();

  private constructor(alternatives: Alternatives, root: JsonObject) {
    this.#alternatives = alternatives?.length === 0 ? null : alternatives;
    this.#root = root;
  }

  /** Analyses `schema`. References are resolved within it. */
  static analyse(schema: unknown): DeclaredSchema {
    return isObject(schema)
      ? new DeclaredSchema(expand(schema, schema, { left: MAX_STEPS }), schema)
      : DeclaredSchema.ANYTHING;
  }

  /** Whether nothing is known about the value. */
  get isUnconstrained(): boolean {
    return this.#alternatives === null;
  }

  /** Whether the value may have this type. */
  allows(kind: JsonType): boolean {
    return this.#alternatives?.some((one) => allowedTypes(one)?.has(kind) ?? true) ?? true;
  }

  /** Whether the value must be a string. */
  get isStringOnly(): boolean {
    return this.#alternatives?.every((one) => isOnlyString(allowedTypes(one))) ?? false;
  }

  /** The declaration of the object's member of this name. */
  member(name: string): DeclaredSchema {
    const known = this.#members.get(name) ?? this.#union("object", (one) => memberOf(one, name));
    this.#members.set(name, known);
    return known;
  }

  /** The declaration of the array's item at this index. */
  item(index: number): DeclaredSchema {
    const places = Math.max(0, ...(this.#alternatives ?? []).map((one) => prefixItemsOf(one).length));
    const place = Math.min(index, places);
    const known =
      this.#items.get(place) ??
      this.#union("array", (one) => prefixItemsOf(one)[place] ?? remainingItemsOf(one));
    this.#items.set(place, known);
    return known;
  }

  #union(kind: JsonType, part: (schema: JsonObject) => unknown): DeclaredSchema {
    const found: JsonObject[] = [];
    const steps = { left: MAX_STEPS };
    for (const one of this.#alternatives ?? [{}]) {
      if (allowedTypes(one)?.has(kind) === false) continue;
      const schema = part(one);
      if (schema === false) continue;
      const more = expand(schema, this.#root, steps);
      if (more === null) return DeclaredSchema.ANYTHING;
      found.push(...more);
    }
    return found.length > MAX_ALTERNATIVES ? DeclaredSchema.ANYTHING : new DeclaredSchema(found, this.#root);
  }
}

function isOnlyString(kinds: ReadonlySet<JsonType> | null): boolean {
  return kinds !== null && kinds.size === 1 && kinds.has("string");
}

/** The type of a parsed value. */
function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "object";
}

const JSON_TYPES: Readonly<Record<string, JsonType>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
  array: "array",
  object: "object",
};

/** The types that a schema without references and combinations allows; null: all. */
function allowedTypes(schema: JsonObject): ReadonlySet<JsonType> | null {
  const { type, enum: values, const: only } = schema;
  const kinds = new Set<JsonType>();
  if (type !== undefined) {
    for (const name of Array.isArray(type) ? type : [type]) {
      const kind = typeof name === "string" ? JSON_TYPES[name.toLowerCase()] : undefined;
      if (kind === undefined) return null;
      kinds.add(kind);
    }
  } else if (Array.isArray(values)) for (const value of values) kinds.add(jsonTypeOf(value));
  else if (only !== undefined) kinds.add(jsonTypeOf(only));
  else return null;
  if (schema["nullable"] === true) kinds.add("null");
  return kinds.size === 0 ? null : kinds;
}

function memberOf(schema: JsonObject, name: string): unknown {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined ? additionalProperties : undefined;
}

/** The schemas of an array's first items. */
function prefixItemsOf({ prefixItems, items }: JsonObject): readonly unknown[] {
  if (Array.isArray(prefixItems)) return prefixItems;
  return Array.isArray(items) ? items : [];
}

function remainingItemsOf({ items, additionalItems }: JsonObject): unknown {
  return Array.isArray(items) ? additionalItems : items;
}

/** The alternatives of a schema, with references and combinations resolved. */
function expand(schema: unknown, root: JsonObject, steps: { left: number }): Alternatives {
  steps.left -= 1;
  if (!isObject(schema) || steps.left < 0) return null;
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts: Alternatives[] = [];
  const add = (part: Alternatives) => parts.push(part);
  if (typeof reference === "string") add(expand(resolveReference(reference, root), root, steps));
  if (Array.isArray(allOf)) for (const part of allOf) add(expand(part, root, steps));
  for (const options of [anyOf, oneOf]) {
    if (!Array.isArray(options)) continue;
    let union: JsonObject[] | null = [];
    for (const option of options) {
      const more: Alternatives = expand(option, root, steps);
      union = union === null || more === null ? null : [...union, ...more];
    }
    add(union);
  }
  let result: Alternatives = [own];
  for (const part of parts) if (part !== null && result !== null) result = combineAlternatives(result, part);
  // When the steps are used up, the analysis is incomplete.
  if (steps.left < 0) return null;
  return result?.every((one) => Object.keys(one).length === 0) ? null : result;
}

/** All pairs of both lists, each merged to one schema. */
function combineAlternatives(some: readonly JsonObject[], others: readonly JsonObject[]): Alternatives {
  if (some.length * others.length > MAX_ALTERNATIVES) return null;
  return some.flatMap((one) => others.map((other) => mergeSchemas(one, other)));
}

function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const [mine, others] = [one["properties"], other["properties"]];
  const both = { ...one, ...other };
  return isObject(mine) && isObject(others) ? { ...both, properties: { ...mine, ...others } } : both;
}

/** Resolves a reference within the schema (`#/$defs/name`). */
function resolveReference(reference: string, root: JsonObject): unknown {
  const [start, ...path] = reference.split("/");
  if (start !== "#") return undefined;
  let found: unknown = root;
  for (const step of path) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(name)];
    else if (isObject(found) && Object.hasOwn(found, name)) found = found[name];
    else return undefined;
  }
  return found;
}
