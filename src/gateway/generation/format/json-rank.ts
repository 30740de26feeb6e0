import { Validator } from "@cfworker/json-schema";
import type { ResponseFormat } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";

/** A requested format that is JSON. */
export type JsonFormat = Exclude<ResponseFormat, { type: "text" }>;

/** How well an answer meets the format: `none` is not JSON, `json` is JSON that breaks the schema. */
export type FormatRank = "none" | "json" | "valid";

/** The rank of a text as an answer in a format. */
interface RankedJson {
  readonly rank: FormatRank;
  /** The faults, worded for the model; empty when there is none. */
  readonly faults: readonly string[];
}

const MAX_FAULTS = 8;
/** Most applications of subschemas: recursive references could otherwise keep the isolate busy forever. */
const MAX_STEPS = 300_000;

/** Keywords whose value maps names to schemas. The names are not keywords. */
const NAMED_SCHEMA_KEYWORDS = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose value is data, not schemas. */
const DATA_KEYWORDS = new Set(["const", "enum", "default", "examples"]);

/** Largest total weight of all applied subschemas: members, requirements, and characters of enumerated values. */
const MAX_WORK = 500_000;
/** The same when all faults are listed: each creates a text. */
const MAX_WORK_WITH_FAULTS = 100_000;
/** Larger schemas are not checked: each of their parts may be compared with each part of the answer. */
const MAX_SCHEMA_CHARS = 256 * 1024;
/** The validator compares all pairs of items, so `uniqueItems` of longer arrays is not checked. */
const MAX_UNIQUE_ITEMS = 1_000;

/** Counts the steps of one check. */
class StepBudget {
  #remainingSteps = MAX_STEPS;
  #work: number;

  /** `work` is the largest total weight of the applied subschemas. */
  constructor(stepLimit: number) {
    this.#work = stepLimit;
  }

  take(weight: number): void {
    this.#remainingSteps -= 1;
    this.#work -= weight;
    if (this.#remainingSteps < 0 || this.#work < 0) throw new RangeError("the schema takes too many steps");
  }
}

/** The weight of a subschema: the cost of applying it once to an array of `longest` items. */
function computeWeight(schema: JsonObject, longest: number): number {
  let weight = schema["uniqueItems"] === true ? longest ** 2 / 8 : 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) weight += JSON.stringify(value)?.length ?? 0;
    else if (typeof value === "object" && value !== null) weight += Object.keys(value).length;
  }
  return weight;
}

/** The length of the longest array within a value. Throws a `RangeError` for a value that nests too deep. */
function longestArray(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let longest = Array.isArray(value) ? value.length : 0;
  for (const member of Object.values(value)) longest = Math.max(longest, longestArray(member));
  return longest;
}

/**
 * A copy of a schema that counts its applications: the validator reads `$ref` at each one. Regular expressions are removed,
 * because a caller's expression may run forever and cannot be interrupted.
 *
 * @param longest length of the longest array that it is applied to
 */
function withStepCounting(schema: JsonObject, steps: StepBudget, longest: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "pattern" || keyword === "patternProperties" || keyword === "format") continue;
    if (keyword === "uniqueItems" && longest > MAX_UNIQUE_ITEMS) continue;
    if (DATA_KEYWORDS.has(keyword)) result[keyword] = value;
    else if (NAMED_SCHEMA_KEYWORDS.has(keyword) && isObject(value)) {
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convertSubschema(member, steps, longest)]),
      );
    } else result[keyword] = convertSubschema(value, steps, longest);
  }
  // Properties that match a pattern are not additional. Without the patterns that cannot be decided.
  if ("patternProperties" in schema) {
    delete result["additionalProperties"];
    delete result["unevaluatedProperties"];
  }
  const reference = result["$ref"];
  const weight = computeWeight(result, longest);
  Object.defineProperty(result, "$ref", {
    enumerable: reference !== undefined,
    get: () => {
      steps.take(weight);
      return reference;
    },
  });
  return result;
}

function convertSubschema(value: unknown, steps: StepBudget, longest: number): unknown {
  if (Array.isArray(value)) return value.map((member) => convertSubschema(member, steps, longest));
  return isObject(value) ? withStepCounting(value, steps, longest) : value;
}

/** The validator's name for the JSON Schema version that a schema declares. */
function readSchemaVersion({ $schema }: JsonObject): "7" | "2019-09" | "2020-12" {
  const named = typeof $schema === "string" ? $schema : "";
  return /draft-0[467]/.test(named) ? "7" : /2019-09/.test(named) ? "2019-09" : "2020-12";
}

/** Lists the schema violations, one line each. A schema that cannot be applied gives none. */
function findSchemaFaults(value: unknown, schema: JsonObject): string[] {
  const schemaVersion = readSchemaVersion(schema);
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return [];
    const longest = longestArray(value);
    const check = (stepLimit: number, firstAlone: boolean) =>
      new Validator(
        withStepCounting(schema, new StepBudget(stepLimit), longest),
        schemaVersion,
        firstAlone,
      ).validate(value);
    const { valid, errors } = check(MAX_WORK, true);
    if (valid) return [];
    const all = tryOrElse(() => check(MAX_WORK_WITH_FAULTS, false).errors, errors);
    // The innermost faults are the most specific, and they come last.
    return all
      .slice(-MAX_FAULTS)
      .map(
        ({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, "") || "the answer"}: ${error}`,
      );
  } catch {
    return [];
  }
}

function tryOrElse<T>(operation: () => T, fallback: T): T {
  try {
    return operation();
  } catch {
    return fallback;
  }
}

function findFaults(value: unknown, format: JsonFormat): string[] {
  if (format.type === "json-schema") return findSchemaFaults(value, format.schema);
  return typeof value === "object" && value !== null ? [] : ["the answer must be a JSON object"];
}

/** Ranks a text without changing it. Regular expressions in the schema are not checked. */
export function rankJson(text: string, format: JsonFormat): RankedJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { rank: "none", faults: [] };
  }
  const faults = findFaults(value, format);
  return { rank: faults.length === 0 ? "valid" : "json", faults };
}
