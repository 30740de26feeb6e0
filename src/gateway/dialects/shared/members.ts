import type { JsonObject } from "../../../core/encoding/json.ts";
import { type GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { jsonObject } from "./field-schemas.ts";

/** Returns a string member, or undefined if it is absent or not a string. */
export function optionalString(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns a string member. `fieldPath` is the path of `object`, for the error.
 *
 * @throws GatewayError 400 that names the field.
 */
export function requireString(object: JsonObject, name: string, fieldPath: string): string {
  const value = object[name];
  if (typeof value === "string") return value;
  throw invalidRequest(`${fieldPath}.${name} must be a string`, `${fieldPath}.${name}`);
}

/**
 * Returns an object member. `fieldPath` is the path of `object`, for the error.
 *
 * @throws GatewayError 400 that names the field.
 */
export function requireObject(object: JsonObject, name: string, fieldPath: string): JsonObject {
  const result = jsonObject.safeParse(object[name]);
  if (result.success) return result.data;
  throw invalidRequest(`${fieldPath}.${name} must be an object`, `${fieldPath}.${name}`);
}

/** Longest part of a value that an error quotes, in characters. */
const MAX_QUOTED = 100;

/** Creates the 400 for a value that is not among the known ones. `fieldPath` is the field that has it. */
export function unknownValueError(
  value: unknown,
  fieldPath: string,
  known: readonly string[],
  param = fieldPath,
): GatewayError {
  const quoted = (JSON.stringify(value) ?? "undefined").slice(0, MAX_QUOTED);
  return invalidRequest(`${fieldPath} ${quoted} is not known: it may be ${known.join(", ")}`, param);
}

/** Creates the 400 for content of an unknown type. */
export function unknownContentError(type: string, fieldPath: string) {
  return invalidRequest(
    `${fieldPath}: content of type ${JSON.stringify(type)} is not supported`,
    `${fieldPath}.type`,
  );
}
