import type * as z from "zod";
import { parseJsonWithCalls } from "../encoding/exact-calls.ts";
import { isObject } from "../encoding/json.ts";
import { setMember } from "../encoding/json-splice.ts";
import { findReservedName } from "../encoding/reserved-name.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { isValidUnchanged } from "./fast-validation.ts";
import { type BodyReadOptions, invalidJson, readJsonText } from "./json-text.ts";

function parseJsonText(text: string): unknown {
  try {
    return parseJsonWithCalls(text);
  } catch {
    throw invalidJson();
  }
}

/** A JSON body as it was sent, and its value. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** Like {@link readJson}, with the text of the body. */
export async function readJsonBody(request: Request, options: BodyReadOptions): Promise<JsonBody> {
  const text = await readJsonText(request, options);
  const value = parseJsonText(text);
  const { pathModel } = options;
  if (pathModel === undefined || !isObject(value)) return { text, value };
  return {
    text: setMember(text, "model", JSON.stringify(pathModel)),
    value: { ...value, model: pathModel },
  };
}

/**
 * Reads strict UTF-8 JSON (docs/contract.md, general rule 2).
 * Throws 400 `invalid json`, and the errors of {@link readJsonText}.
 */
export async function readJson(request: Request, options: BodyReadOptions): Promise<unknown> {
  return (await readJsonBody(request, options)).value;
}

/** Formats a zod issue path as `a.b[0].c`. */
function fieldName(path: readonly PropertyKey[]): string {
  let name = "";
  for (const key of path) {
    if (typeof key === "number") name += `[${key}]`;
    else name += name === "" ? String(key) : `.${String(key)}`;
  }
  return name;
}

/** Zod's errors for a number, a text or a list beyond a bound. */
const TOO_BIG_OR_SMALL = /^Too (?:big|small): expected \w+ to (be|have) (<=?|>=?)(\S+)(?: (\w+))?$/;
const BOUNDS: ReadonlyMap<string, string> = new Map([
  ["<", "less than"],
  ["<=", "at most"],
  [">", "more than"],
  [">=", "at least"],
]);

/** A schema's own error for a wrong type or a bound, in words that say what to do. Other errors stay as they are. */
function describeIssue(message: string): string {
  const [, verb, sign, bound, unit] = TOO_BIG_OR_SMALL.exec(message) ?? [];
  if (verb !== undefined) {
    const measure = unit === undefined ? "" : ` ${bound === "1" ? unit.replace(/s$/, "") : unit}`;
    return `must ${verb} ${BOUNDS.get(sign ?? "")} ${bound}${measure}`;
  }
  const [, expected, received] = /^Invalid input: expected ([\w ]+), received ([\w ]+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return received === "undefined"
    ? `is missing: it must be of the type ${expected}`
    : `must be of the type ${expected}, not ${received}`;
}

/** Only the first violation is reported: finding all takes far more time and memory than the value itself. */
const FIRST_VIOLATION: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/** Validates a value by its schema; the first violation becomes a 400 that names the field. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  if (isValidUnchanged(schema, value)) return value;
  const result = schema.safeParse(value, FIRST_VIOLATION);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue === undefined ? "" : fieldName(issue.path);
  const message = describeIssue(issue?.message ?? "the request is not valid");
  const [unknown] = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const param = unknown === undefined ? field : fieldName([...(issue?.path ?? []), unknown]);
  throw new GatewayError(400, field === "" ? message : `${field}: ${message}`, {
    code: "invalid_request",
    param: param === "" ? null : param,
  });
}

/** Throws 400 for a member that would be lost when the value is stored. */
export function rejectReservedNames(value: unknown): void {
  const path = findReservedName(value);
  if (path === null) return;
  const param = fieldName(path);
  throw invalidRequest(`${param}: this name is not possible`, param);
}

/** Reads a JSON body. With `isOptional`, an absent body is an empty object. */
export async function readBodyValue(
  request: Request,
  options: BodyReadOptions,
  isOptional: boolean,
): Promise<unknown> {
  if (!isOptional) return readJson(request, options);
  const text = await readJsonText(request, options);
  return text === "" ? {} : parseJsonText(text);
}
