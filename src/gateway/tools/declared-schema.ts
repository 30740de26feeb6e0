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
      ? new DeclaredSchema(expandSchema(schema, schema, { left: MAX_STEPS }), schema)
      : DeclaredSchema.ANYTHING;
  }

  /** Whether nothing is known about the value. */
  get isUnconstrained(): boolean {
    return this.#alternatives === null;
  }

  /** Whether the value may have this type. */
  allows(kind: JsonType): boolean {
    return this.#alternatives?.some((alternative) => allowedTypes(alternative)?.has(kind) ?? true) ?? true;
  }

  /** Whether the value must be a string. */
  get isStringOnly(): boolean {
    return this.#alternatives?.every((alternative) => isOnlyString(allowedTypes(alternative))) ?? false;
  }

  /** The declaration of the object's member of this name. */
  member(name: string): DeclaredSchema {
    const known =
      this.#members.get(name) ?? this.#union("object", (alternative) => getMember(alternative, name));
    this.#members.set(name, known);
    return known;
  }

  /** The declaration of the array's item at this index. */
  item(index: number): DeclaredSchema {
    const prefixLength = Math.max(
      0,
      ...(this.#alternatives ?? []).map((alternative) => listPrefixItems(alternative).length),
    );
    const itemIndex = Math.min(index, prefixLength);
    const known =
      this.#items.get(itemIndex) ??
      this.#union(
        "array",
        (alternative) => listPrefixItems(alternative)[itemIndex] ?? getRemainingItems(alternative),
      );
    this.#items.set(itemIndex, known);
    return known;
  }

  #union(kind: JsonType, select: (schema: JsonObject) => unknown): DeclaredSchema {
    const schemas: JsonObject[] = [];
    const steps = { left: MAX_STEPS };
    for (const alternative of this.#alternatives ?? [{}]) {
      if (allowedTypes(alternative)?.has(kind) === false) continue;
      const schema = select(alternative);
      if (schema === false) continue;
      const expanded = expandSchema(schema, this.#root, steps);
      if (expanded === null) return DeclaredSchema.ANYTHING;
      schemas.push(...expanded);
    }
    return schemas.length > MAX_ALTERNATIVES
      ? DeclaredSchema.ANYTHING
      : new DeclaredSchema(schemas, this.#root);
  }
}

function isOnlyString(kinds: ReadonlySet<JsonType> | null): boolean {
  return kinds !== null && kinds.size === 1 && kinds.has("string");
}

/** The type of a parsed value. */
function getJsonType(value: unknown): JsonType {
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
  const { type, enum: values, const: constant } = schema;
  const kinds = new Set<JsonType>();
  if (type !== undefined) {
    for (const name of Array.isArray(type) ? type : [type]) {
      const kind = typeof name === "string" ? JSON_TYPES[name.toLowerCase()] : undefined;
      if (kind === undefined) return null;
      kinds.add(kind);
    }
  } else if (Array.isArray(values)) for (const value of values) kinds.add(getJsonType(value));
  else if (constant !== undefined) kinds.add(getJsonType(constant));
  else return null;
  if (schema["nullable"] === true) kinds.add("null");
  return kinds.size === 0 ? null : kinds;
}

function getMember(schema: JsonObject, name: string): unknown {
  const { properties, patternProperties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined ? additionalProperties : undefined;
}

/** The schemas of an array's first items. */
function listPrefixItems({ prefixItems, items }: JsonObject): readonly unknown[] {
  if (Array.isArray(prefixItems)) return prefixItems;
  return Array.isArray(items) ? items : [];
}

function getRemainingItems({ items, additionalItems }: JsonObject): unknown {
  return Array.isArray(items) ? additionalItems : items;
}

/** The alternatives of a schema, with references and combinations resolved. */
function expandSchema(schema: unknown, root: JsonObject, steps: { left: number }): Alternatives {
  steps.left -= 1;
  if (!isObject(schema) || steps.left < 0) return null;
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts: Alternatives[] = [];
  const add = (part: Alternatives) => parts.push(part);
  if (typeof reference === "string") add(expandSchema(resolveReference(reference, root), root, steps));
  if (Array.isArray(allOf)) for (const part of allOf) add(expandSchema(part, root, steps));
  for (const options of [anyOf, oneOf]) {
    if (!Array.isArray(options)) continue;
    let union: JsonObject[] | null = [];
    for (const option of options) {
      const expanded: Alternatives = expandSchema(option, root, steps);
      union = union === null || expanded === null ? null : [...union, ...expanded];
    }
    add(union);
  }
  let result: Alternatives = [own];
  for (const part of parts) if (part !== null && result !== null) result = combineAlternatives(result, part);
  // When the steps are used up, the analysis is incomplete.
  if (steps.left < 0) return null;
  return result?.every((alternative) => Object.keys(alternative).length === 0) ? null : result;
}

/** All pairs of both lists, each merged to one schema. */
function combineAlternatives(lefts: readonly JsonObject[], rights: readonly JsonObject[]): Alternatives {
  if (lefts.length * rights.length > MAX_ALTERNATIVES) return null;
  return lefts.flatMap((left) => rights.map((right) => mergeSchemas(left, right)));
}

function mergeSchemas(left: JsonObject, right: JsonObject): JsonObject {
  const [leftProperties, rightProperties] = [left["properties"], right["properties"]];
  const merged = { ...left, ...right };
  return isObject(leftProperties) && isObject(rightProperties)
    ? { ...merged, properties: { ...leftProperties, ...rightProperties } }
    : merged;
}

/** Resolves a reference within the schema (`#/$defs/name`). */
function resolveReference(reference: string, root: JsonObject): unknown {
  const [start, ...path] = reference.split("/");
  if (start !== "#") return undefined;
  let current: unknown = root;
  for (const step of path) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(current)) current = current[Number(name)];
    else if (isObject(current) && Object.hasOwn(current, name)) current = current[name];
    else return undefined;
  }
  return current;
}
