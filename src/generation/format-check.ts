import { Validator } from "@cfworker/json-schema";
import type { ResponseFormat } from "../conversation/conversation.ts";
import { isObject, type JsonObject } from "../encoding/json.ts";

/** How far an answer is what was asked for: `none` is no JSON, `json` is JSON that breaks the schema. */
export type FormatRank = "none" | "json" | "valid";

/** An answer's text, checked against the requested format. */
export interface FormatCheck {
  readonly rank: FormatRank;
  /** The JSON alone when there is any, without a code fence or words around it; else the text as it was. */
  readonly text: string;
  /** What is wrong, for the model to read; empty when nothing is. */
  readonly faults: readonly string[];
}

const MAX_FAULTS = 8;
const EXCERPT_CHARS = 200;
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

/** Where JSON may be within a text: the whole, a code fence's inside, or from the first bracket to the last. */
function* candidates(text: string): Generator<string> {
  yield text.trim();
  const fence = text.indexOf("```");
  const inside = fence === -1 ? -1 : text.indexOf("\n", fence);
  if (inside !== -1) {
    const end = text.lastIndexOf("```");
    if (end > inside) yield text.slice(inside, end).trim();
    const next = text.indexOf("```", inside);
    if (next !== -1 && next !== end) yield text.slice(inside, next).trim();
  }
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (start !== -1 && end > start) yield text.slice(start, end + 1);
}

function parsed(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** Checks an answer's text. Regular expressions in the schema are left to the model. */
export function checkFormat(text: string, format: Exclude<ResponseFormat, { type: "text" }>): FormatCheck {
  let best: FormatCheck | null = null;
  for (const candidate of candidates(text)) {
    const json = parsed(candidate);
    if (json === null) continue;
    const faults =
      format.type === "json-schema"
        ? schemaFaults(json.value, format.schema)
        : typeof json.value === "object" && json.value !== null
          ? []
          : ["the answer must be a JSON object"];
    if (faults.length === 0) return { rank: "valid", text: candidate, faults };
    best ??= { rank: "json", text: candidate, faults };
  }
  const excerpt = JSON.stringify(text.trim().slice(0, EXCERPT_CHARS));
  return best ?? { rank: "none", text, faults: [`the answer is not JSON: it begins with ${excerpt}`] };
}
