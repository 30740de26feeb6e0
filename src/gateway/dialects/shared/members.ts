import type { JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { jsonObject } from "./field-schemas.ts";

/** Returns a string member, or undefined if it is absent or not a string. */
export function optionalString(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns a string member. `where` is the path of `object`, for the error.
 *
 * @throws GatewayError 400 that names the field.
 */
export function requireString(object: JsonObject, name: string, where: string): string {
  const value = object[name];
  if (typeof value === "string") return value;
  throw invalidRequest(`${where}.${name} must be a string`, `${where}.${name}`);
}

/**
 * Returns an object member. `where` is the path of `object`, for the error.
 *
 * @throws GatewayError 400 that names the field.
 */
export function requireObject(object: JsonObject, name: string, where: string): JsonObject {
  const result = jsonObject.safeParse(object[name]);
  if (result.success) return result.data;
  throw invalidRequest(`${where}.${name} must be an object`, `${where}.${name}`);
}

/** Creates the 400 for an unknown format. `where` is the field that names it. */
export function unknownFormatError(format: unknown, where: string) {
  return invalidRequest(`${where} ${JSON.stringify(format)} is not known`, where);
}

/** Creates the 400 for content of an unknown type. */
export function unknownContentError(type: string, where: string) {
  return invalidRequest(
    `${where}: content of type ${JSON.stringify(type)} is not supported`,
    `${where}.type`,
  );
}
