/** Maximum length of all JSON-LD of a page, in UTF-16 code units, and the number of its objects. */
const MAX_TEXT = 200_000;
const MAX_OBJECTS = 100;
/** Deeper values are omitted. */
const MAX_DEPTH = 20;

/** A JSON value. */
type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { readonly [name: string]: Json };

/**
 * Parses the JSON-LD scripts of a page. Lists and graphs (`@graph`) become separate objects, in order; other members
 * beside a graph belong to each of its objects. Omits scripts that are no JSON.
 *
 * @param scripts the content of the scripts
 */
export function parseJsonLd(scripts: readonly string[]): JsonObject[] {
  const objects: JsonObject[] = [];
  let remaining = MAX_TEXT;
  for (const script of scripts) {
    remaining -= script.length;
    if (remaining < 0) break;
    for (const object of flattenGraph(parseLenient(script))) {
      if (objects.length >= MAX_OBJECTS) return objects;
      objects.push(object);
    }
  }
  return objects;
}

/** Parses JSON, also within a comment or with line breaks in texts, as many pages have it. Undefined if it is no JSON. */
function parseLenient(script: string): unknown {
  const text = script
    .trim()
    .replace(/^(?:<!--|\/[/*]\s*<!\[CDATA\[(?:\s*\*\/)?|<!\[CDATA\[)/, "")
    .replace(/(?:-->|(?:\/[/*]\s*)?\]\]>(?:\s*\*\/)?)\s*;?$/, "")
    .replace(/;$/, "");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow them in texts, but pages use them.
  for (const candidate of [text, text.replace(/[\u0000-\u001f]+/g, " ")]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The next candidate may be valid.
    }
  }
  return undefined;
}

function flattenGraph(value: unknown): JsonObject[] {
  const copied = copyJson(value, MAX_DEPTH);
  const roots = Array.isArray(copied) ? copied : [copied];
  return roots.filter(isJsonObject).flatMap((root) => {
    const { "@graph": graph, ...others } = root;
    if (graph === undefined) return [root];
    const nodes = (Array.isArray(graph) ? graph : [graph]).filter(isJsonObject);
    return nodes.map((node) => ({ ...others, ...node }));
  });
}

/** A copy without values that are too deep: such values would exceed the stack later. */
function copyJson(value: unknown, depth: number): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return value;
  if (typeof value !== "object" || depth === 0) return null;
  if (Array.isArray(value)) return value.map((item: unknown) => copyJson(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyJson(item, depth - 1)]));
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Finds the texts of a path in JSON-LD objects, in the objects' order: `publisher.name`. A list on the way stands for
 * each of its items, and a reference (`@id`) for the object of that id. Numbers become texts.
 */
export function* findTexts(objects: readonly JsonObject[], path: string): Generator<string> {
  const names = path.split(".");
  const byId = new Map(
    objects.flatMap((object): [Json, JsonObject][] => (object["@id"] ? [[object["@id"], object]] : [])),
  );
  for (const object of objects) {
    let values: readonly Json[] = [object];
    for (const name of names) {
      values = values
        .flatMap((value): Json | readonly Json[] =>
          isJsonObject(value) ? (memberOf(value, name, byId) ?? []) : [],
        )
        .flat()
        .slice(0, MAX_OBJECTS);
    }
    for (const value of values) {
      if (typeof value === "string" && value.trim() !== "") yield decodeEntities(value);
      else if (typeof value === "number") yield String(value);
    }
  }
}

function memberOf(value: JsonObject, name: string, byId: ReadonlyMap<Json, JsonObject>): Json | undefined {
  return value[name] ?? byId.get(value["@id"] ?? null)?.[name];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** Decodes the few entities that pages leave in JSON. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|([a-z]{2,4}));/g, (all, code: string | undefined, name = "") => {
    const point = Number(code);
    if (code === undefined) return ENTITIES[name] ?? all;
    return point > 0 && point < 0x11_0000 ? String.fromCodePoint(point) : all;
  });
}
