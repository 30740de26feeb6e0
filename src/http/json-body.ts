import type * as z from "zod";
import { GatewayError } from "../errors/gateway-error.ts";
import { type Intake, invalidJson, readJsonText } from "./json-text.ts";
import { fitsPlainly } from "./plain-fit.ts";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson();
  }
}

/** Strict UTF-8 JSON (contract, general rule 2). Throws 400 `invalid json`, and as {@link readJsonText} says. */
export async function readJson(request: Request, intake: Intake): Promise<unknown> {
  return parsed(await readJsonText(request, intake));
}

/** `a.b[0].c` for a zod issue path. */
function fieldName(path: readonly PropertyKey[]): string {
  let name = "";
  for (const key of path) {
    if (typeof key === "number") name += `[${key}]`;
    else name += name === "" ? String(key) : `.${String(key)}`;
  }
  return name;
}

/** The first violation is all that is told: looking for more takes far more time and memory than the value itself. */
const FIRST_VIOLATION: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/** Checks a value against its schema; the first violation becomes a 400 that names the field. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  if (fitsPlainly(schema, value)) return value;
  const result = schema.safeParse(value, FIRST_VIOLATION);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue === undefined ? "" : fieldName(issue.path);
  const message = issue?.message ?? "the request is not valid";
  const [unknown] = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const param = unknown === undefined ? field : fieldName([...(issue?.path ?? []), unknown]);
  throw new GatewayError(400, field === "" ? message : `${field}: ${message}`, {
    code: "invalid_request",
    param: param === "" ? null : param,
  });
}

/** Reads and checks a JSON body in one step. */
export async function readBody<T>(request: Request, intake: Intake, schema: z.ZodType<T>): Promise<T> {
  return parseWith(schema, await readJson(request, intake));
}

/** The same for a body all of whose fields may be left out: no body at all is an empty object. */
export async function readOptionalBody<T>(
  request: Request,
  intake: Intake,
  schema: z.ZodType<T>,
): Promise<T> {
  const text = await readJsonText(request, intake);
  return parseWith(schema, text === "" ? {} : parsed(text));
}
