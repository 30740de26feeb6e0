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

/** Counts the steps of one check. */
class Steps {
  #left = MAX_STEPS;

  take(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new RangeError("the schema takes too many steps");
  }
}

/**
 * A schema that counts how often it is applied, as the validator then reads `$ref`, and without its regular expressions: a
 * caller's may take for ever, and nothing could stop them.
 */
function bounded(schema: JsonObject, steps: Steps): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "pattern" || keyword === "patternProperties" || keyword === "format") continue;
    if (DATA.has(keyword)) result[keyword] = value;
    else if (NAMED.has(keyword) && isObject(value)) {
      result[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convert(member, steps)]),
      );
    } else result[keyword] = convert(value, steps);
  }
  // What matches a pattern is not additional; without the patterns nobody can tell.
  if ("patternProperties" in schema) {
    delete result["additionalProperties"];
    delete result["unevaluatedProperties"];
  }
  const reference = result["$ref"];
  Object.defineProperty(result, "$ref", {
    enumerable: reference !== undefined,
    get: () => {
      steps.take();
      return reference;
    },
  });
  return result;
}

function convert(value: unknown, steps: Steps): unknown {
  if (Array.isArray(value)) return value.map((member) => convert(member, steps));
  return isObject(value) ? bounded(value, steps) : value;
}

/** What breaks the schema, one line each. A schema that cannot be applied forbids nothing. */
function schemaFaults(value: unknown, schema: JsonObject): string[] {
  const dialect = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  const draft = /draft-0[467]/.test(dialect) ? "7" : /2019-09/.test(dialect) ? "2019-09" : "2020-12";
  try {
    const { valid, errors } = new Validator(bounded(schema, new Steps()), draft, false).validate(value);
    if (valid) return [];
    // The innermost faults say most, and they come last.
    return errors
      .slice(-MAX_FAULTS)
      .map(
        ({ instanceLocation, error }) => `${instanceLocation.replace(/^#/, "") || "the answer"}: ${error}`,
      );
  } catch {
    return [];
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
