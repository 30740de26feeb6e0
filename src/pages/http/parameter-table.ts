import * as z from "zod";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { QueryParameters } from "./query-parameters.ts";

/** A query parameter: how a request reads it, and how the OpenAPI document describes it. */
export interface Parameter<Value> {
  /** Throws a 400 that names the parameter if its value is invalid. */
  readonly read: (query: QueryParameters, name: string) => Value;
  /** Whether the request gives it; absent: whether it has a text. */
  readonly isGiven?: (query: QueryParameters, name: string) => boolean;
  /** Its schema, with the description. A schema without a default is optional. */
  readonly schema: () => z.ZodType;
}

/** The parameters of a query by their names. */
export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

/** The values of the parameters of a table. */
export type ParameterValues<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]["read"]>;
};

/** Reads all parameters of a table. Throws a 400 that names the first invalid one. */
export function readParameters<Table extends ParameterTable>(
  query: QueryParameters,
  table: Table,
): ParameterValues<Table>;
export function readParameters(query: QueryParameters, table: ParameterTable): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).map(([name, { read }]) => [name, read(query, name)]));
}

/** Rejects all parameters of a table. Throws a 400 with the first one that the request gives. */
export function rejectParameters(query: QueryParameters, table: ParameterTable, reason: string): void {
  for (const [name, { isGiven = hasText }] of Object.entries(table)) {
    if (isGiven(query, name)) throw invalidRequest(`The parameter ${name} ${reason}.`, name);
  }
}

function hasText(query: QueryParameters, name: string): boolean {
  return query.text(name) !== null;
}

/** The schemas of a table, for the OpenAPI document. */
export function toSchemas(table: ParameterTable): Record<string, z.ZodType> {
  const entries = Object.entries(table).map(([name, parameter]): [string, z.ZodType] => {
    const schema = parameter.schema();
    return [name, schema instanceof z.ZodDefault ? schema : schema.optional()];
  });
  return Object.fromEntries(entries);
}

/** A boolean, false by default. */
export function flag(description: string): Parameter<boolean> {
  return {
    read: (query, name) => query.boolean(name, false),
    isGiven: (query, name) => query.boolean(name, false),
    schema: () => z.boolean().describe(description).default(false),
  };
}

/** A boolean whose default depends on other parameters; null if it is missing. */
export function optionalFlag(description: string): Parameter<boolean | null> {
  return {
    read: (query, name) => query.boolean(name, null),
    schema: () => z.boolean().describe(description),
  };
}

/** A whole number in a range, including both ends; null if it is missing. */
export function integer(min: number, max: number, description: string): Parameter<number | null> {
  return {
    read: (query, name) => query.integer(name, min, max),
    schema: () => z.int().min(min).max(max).describe(description),
  };
}

/** A number in a range with at most two decimals; null if it is missing. */
export function decimal(min: number, max: number, description: string): Parameter<number | null> {
  return {
    read: (query, name) => query.number(name, min, max),
    schema: () => z.number().min(min).max(max).describe(description),
  };
}

/** One of the given values, case-insensitive; null if it is missing. */
export function choice<Value extends string>(
  values: readonly Value[],
  description: string,
): Parameter<Value | null> {
  return {
    read: (query, name) => query.choice(name, values),
    schema: () => z.enum(values).describe(description),
  };
}

/** A text of at most `maxLength` characters; null if it is missing. */
export function text(maxLength: number, description: string): Parameter<string | null> {
  return {
    read: (query, name) => query.limitedText(name, maxLength),
    schema: () => z.string().max(maxLength).describe(description),
  };
}

/** A text with a few numbers or a name, which `parsed` checks; null if it is missing. */
export function shortText(description: string): Parameter<string | null> {
  return {
    read: (query, name) => query.text(name),
    schema: () => z.string().max(MAX_SHORT_TEXT).describe(description),
  };
}

/** Maximum characters of a short text, including optional spaces. */
const MAX_SHORT_TEXT = 100;

/** A repeatable text: at most `maxCount`, each of at most `maxLength` characters. */
export function textList(
  maxCount: number,
  maxLength: number,
  description: string,
): Parameter<readonly string[]> {
  return {
    read: (query, name) => query.textList(name, maxCount, maxLength),
    isGiven: (query, name) => query.textList(name, maxCount, maxLength).length > 0,
    schema: () => z.array(z.string().max(maxLength)).max(maxCount).describe(description),
  };
}

/** A parameter that has a value of its own where the request has none. */
export function withDefault<Value>(
  { read, schema }: Parameter<Value | null>,
  fallback: Value,
): Parameter<Value> {
  return {
    read: (query, name) => read(query, name) ?? fallback,
    schema: () => schema().default(fallback),
  };
}

/** A parameter that is null if it is missing, with the default that its reader applies then. */
export function describeDefault<Value>(
  { read, schema }: Parameter<Value | null>,
  fallback: Value,
): Parameter<Value | null> {
  return { read, schema: () => schema().default(fallback) };
}

/** A parameter whose value `parse` converts. `parse` throws a 400 that names the parameter if the value is invalid. */
export function parsed<Text, Value>(
  { read, schema }: Parameter<Text | null>,
  parse: (value: Text, name: string) => Value,
): Parameter<Value | null> {
  return {
    read: (query, name) => {
      const value = read(query, name);
      return value === null ? null : parse(value, name);
    },
    schema,
  };
}
