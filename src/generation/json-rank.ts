import { Validator } from "@cfworker/json-schema";
import type { ResponseFormat } from "../conversation/conversation.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";

/** A requested format that is JSON. */
export type JsonFormat = Exclude<ResponseFormat, { type: "text" }>;

/** How far an answer is what was asked for: `none` is no JSON, `json` is JSON that breaks the schema. */
export type FormatRank = "none" | "json" | "valid";

/** What a text is worth as an answer in a format. */
export interface RankedJson {
  readonly rank: FormatRank;
  /** What is wrong, for the model to read; empty when nothing is. */
  readonly faults: readonly string[];
}

const MAX_FAULTS = 8;
/** How often subschemas are applied at most: references that double themselves would keep the isolate busy for ever. */
const MAX_STEPS = 300_000;

/** Keywords whose value is schemas by name: what they name is no keyword. */
const NAMED = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose value is data, not schemas. */
const DATA = new Set(["const", "enum", "default", "examples"]);

/** What all subschemas that are applied hold together at most: members, requirements, and characters of choices. */
const MAX_WORK = 500_000;
/** The same where every fault is to be told: each is a text of its own. */
const MAX_WORK_WITH_FAULTS = 100_000;
/** A schema with more text than this is left to the model: each of its parts may be held against each part of the answer. */
const MAX_SCHEMA_CHARS = 256 * 1024;
/** The validator compares each item with each: `uniqueItems` of longer arrays is left to the model. */
const MAX_UNIQUE_ITEMS = 1_000;

/** Counts the steps of one check. */
class Steps {
  #left = MAX_STEPS;
  #work: number;

  /** `work` is what the subschemas may hold together. */
  constructor(work: number) {
    this.#work = work;
  }

  take(weight: number): void {
    this.#left -= 1;
    this.#work -= weight;
    if (this.#left < 0 || this.#work < 0) throw new RangeError("the schema takes too many steps");
  }
}

/** How much a subschema holds by itself, which is gone through each time that it is applied to an array of `longest`. */
function weightOf(schema: JsonObject, longest: number): number {
  let weight = schema["uniqueItems"] === true ? longest ** 2 / 8 : 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA.has(keyword)) weight += JSON.stringify(value)?.length ?? 0;
    else if (typeof value === "object" && value !== null) weight += Object.keys(value).length;
  }
  return weight;
}

/** The length of the longest array within a value. Throws a `RangeError` for one that nests too deep. */
function longestArray(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let longest = Array.isArray(value) ? value.length : 0;
  for (const member of Object.values(value)) longest = Math.max(longest, longestArray(member));
  return longest;
}

/**
 * A schema that counts how often it is applied, as the validator then reads `$ref`, and without its regular expressions: a
 * caller's may take for ever, and nothing could stop them.
 *
 * @param longest length of the longest array to which it is applied
 */
function bounded(schema: JsonObject, steps: Steps, longest: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "pattern" || keyword === "patternProperties" || keyword === "format") continue;
    if (keyword === "uniqueItems" && longest > MAX_UNIQUE_ITEMS) continue;
    if (DATA.has(keyword)) result[keyword] = value;
    else if (NAMED.has(keyword) && isObject(value)) {
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convert(member, steps, longest)]),
      );
    } else result[keyword] = convert(value, steps, longest);
  }
  // What matches a pattern is not additional; without the patterns nobody can tell.
  if ("patternProperties" in schema) {
    delete result["additionalProperties"];
    delete result["unevaluatedProperties"];
  }
  const reference = result["$ref"];
  const weight = weightOf(result, longest);
  Object.defineProperty(result, "$ref", {
    enumerable: reference !== undefined,
    get: () => {
      steps.take(weight);
      return reference;
    },
  });
  return result;
}

function convert(value: unknown, steps: Steps, longest: number): unknown {
  if (Array.isArray(value)) return value.map((member) => convert(member, steps, longest));
  return isObject(value) ? bounded(value, steps, longest) : value;
}

/** How the validator calls the edition of JSON Schema that a schema names. */
function editionOf({ $schema }: JsonObject): "7" | "2019-09" | "2020-12" {
  const named = typeof $schema === "string" ? $schema : "";
  return /draft-0[467]/.test(named) ? "7" : /2019-09/.test(named) ? "2019-09" : "2020-12";
}

/** What breaks the schema, one line each. A schema that cannot be applied forbids nothing. */
function schemaFaults(value: unknown, schema: JsonObject): string[] {
  const edition = editionOf(schema);
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return [];
    const longest = longestArray(value);
    const check = (work: number, firstAlone: boolean) =>
      new Validator(bounded(schema, new Steps(work), longest), edition, firstAlone).validate(value);
    const { valid, errors } = check(MAX_WORK, true);
    if (valid) return [];
    const all = orElse(() => check(MAX_WORK_WITH_FAULTS, false).errors, errors);
    // The innermost faults say most, and they come last.
    return all
      .slice(-MAX_FAULTS)
      .map(
        ({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, "") || "the answer"}: ${error}`,
      );
  } catch {
    return [];
  }
}

function orElse<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

function faultsOf(value: unknown, format: JsonFormat): string[] {
  if (format.type === "json-schema") return schemaFaults(value, format.schema);
  return typeof value === "object" && value !== null ? [] : ["the answer must be a JSON object"];
}

/** Ranks a text as it stands. Regular expressions in the schema are left to the model. */
export function rankJson(text: string, format: JsonFormat): RankedJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { rank: "none", faults: [] };
  }
  const faults = faultsOf(value, format);
  return { rank: faults.length === 0 ? "valid" : "json", faults };
}
