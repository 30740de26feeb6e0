import * as z from "zod";
// Named imports: `z.core` as a whole would add all its parts to the bundle, such as error messages in fifty languages.
import { $ZodCheckMaxLength, $ZodCheckMinLength, $ZodStringFormat } from "zod/v4/core";
import { isObject } from "../encoding/json.ts";

type Schema = z.core.$ZodType;
type Test = (value: unknown) => boolean;

/** Tests by schema; null: the schema may change its input, or has a kind that this module does not know. */
const tests = new WeakMap<Schema, Test | null>();

/**
 * Whether a parsed JSON value is valid for a schema and would leave it unchanged. False if this simple check cannot tell:
 * then zod must validate. On Workers, which forbid code generation, zod takes longer for a conversation than parsing its
 * JSON, and copies all of it. This check saves 0.1 ms for a body of 52 KB and 0.6 to 1 ms for 140 KB
 * (docs/performance.md), and less than 3 % of a request with a short body (bench/results/answers.md).
 */
export function isValidUnchanged<T>(schema: z.ZodType<T>, value: unknown): value is T {
  return getTest(schema)?.(value) ?? false;
}

function getTest(schema: Schema): Test | null {
  const known = tests.get(schema);
  if (known !== undefined) return known;
  // Leaves recursive schemas to zod.
  tests.set(schema, null);
  const test = createTest(schema);
  tests.set(schema, test);
  return test;
}

function createTest(schema: Schema): Test | null {
  if (schema instanceof z.ZodString) return textTest(schema);
  if (schema instanceof z.ZodArray) return listTest(schema);
  if (schema instanceof z.ZodObject) return objectTest(schema);
  if ((schema._zod.def.checks ?? []).length > 0) return null;
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodBoolean) return schema.def.coerce === true ? null : isBoolean;
  if (schema instanceof z.ZodNumber) return numberTest(schema);
  if (schema instanceof z.ZodNull) return isNull;
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return valueTest(schema._zod.values);
  if (schema instanceof z.ZodNullable) return eitherTest([isNull, getTest(schema.unwrap())]);
  // Absent members are not tested, so only the type of present ones matters.
  if (schema instanceof z.ZodOptional && !(schema instanceof z.ZodExactOptional))
    return getTest(schema.unwrap());
  if (schema instanceof z.ZodUnion)
    return schema.def.inclusive === false ? null : eitherTest(schema.options.map(getTest));
  if (schema instanceof z.ZodRecord) return recordTest(schema);
  return null;
}

const isNull: Test = (value) => value === null;
const isBoolean: Test = (value) => typeof value === "boolean";

/** The limits of a length check; null if there are other checks. */
function readLengthLimits(
  checks: readonly z.core.$ZodCheck<never>[] = [],
): { least: number; most: number } | null {
  const lengths = { least: 0, most: Number.POSITIVE_INFINITY };
  for (const check of checks) {
    if (check instanceof $ZodCheckMinLength) lengths.least = Math.max(lengths.least, check._zod.def.minimum);
    else if (check instanceof $ZodCheckMaxLength)
      lengths.most = Math.min(lengths.most, check._zod.def.maximum);
    else return null;
  }
  return lengths;
}

function textTest(schema: z.ZodString): Test | null {
  const { checks, coerce } = schema.def;
  const lengths = readLengthLimits(checks);
  if (lengths === null || coerce === true || schema instanceof $ZodStringFormat) return null;
  const { least, most } = lengths;
  return (value) => typeof value === "string" && value.length >= least && value.length <= most;
}

function numberTest(schema: z.ZodNumber): Test | null {
  if (schema.def.coerce === true || schema instanceof z.ZodNumberFormat) return null;
  return (value) => typeof value === "number" && Number.isFinite(value);
}

function valueTest(values: ReadonlySet<unknown> | undefined): Test | null {
  return values === undefined ? null : (value) => values.has(value);
}

function eitherTest(options: readonly (Test | null)[]): Test | null {
  const supported = options.filter((test) => test !== null);
  if (supported.length < options.length) return null;
  return (value) => supported.some((test) => test(value));
}

function listTest({ def }: z.ZodArray): Test | null {
  const lengths = readLengthLimits(def.checks);
  const each = getTest(def.element);
  if (lengths === null || each === null) return null;
  const { least, most } = lengths;
  return (value) =>
    Array.isArray(value) &&
    value.length >= least &&
    value.length <= most &&
    value.every((entry) => each(entry));
}

/** Whether a value is a parsed object without a member `__proto__`, which zod would drop. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !Object.hasOwn(value, "__proto__");
}

function recordTest({ def }: z.ZodRecord): Test | null {
  if (!(def.keyType instanceof z.ZodString) || (def.keyType.def.checks ?? []).length > 0) return null;
  const each = getTest(def.valueType);
  if (each === null) return null;
  if (def.valueType instanceof z.ZodUnknown) return isPlain;
  return (value) => isPlain(value) && Object.values(value).every(each);
}

function objectTest({ def, shape }: z.ZodObject): Test | null {
  // Other object schemas drop unknown members.
  const isLoose = def.catchall instanceof z.ZodUnknown;
  if (!isLoose || (def.checks ?? []).length > 0) return null;
  const required: string[] = [];
  const members = new Map<string, Test>();
  for (const [name, field] of Object.entries(shape)) {
    const test = getTest(field);
    if (test === null) return null;
    members.set(name, test);
    if (field._zod.optin === undefined) required.push(name);
  }
  return (value) => {
    if (!isPlain(value) || !required.every((name) => Object.hasOwn(value, name))) return false;
    for (const name in value) {
      if (members.get(name)?.(value[name]) === false) return false;
    }
    return true;
  };
}
