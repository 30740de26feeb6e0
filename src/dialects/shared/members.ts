import type { JsonObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { jsonObject } from "./fields.ts";

/** A string member, or undefined when it is absent or something else. */
export function optionalString(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** A string member. Throws 400 that names the field; `where` is the field's path up to `object`. */
export function stringMember(object: JsonObject, name: string, where: string): string {
  const value = object[name];
  if (typeof value === "string") return value;
  throw invalidRequest(`${where}.${name} must be a string`, `${where}.${name}`);
}

/** An object member. Throws 400 that names the field; `where` is the field's path up to `object`. */
export function objectMember(object: JsonObject, name: string, where: string): JsonObject {
  const result = jsonObject.safeParse(object[name]);
  if (result.success) return result.data;
  throw invalidRequest(`${where}.${name} must be an object`, `${where}.${name}`);
}

/** The 400 of a requested format that is not known; `where` is the field that names it. */
export function unknownFormat(format: unknown, where: string) {
  return invalidRequest(`${where} ${JSON.stringify(format)} is not known`, where);
}

/** The 400 of content whose type is not known. */
export function unknownContent(type: string, where: string) {
  return invalidRequest(
    `${where}: content of type ${JSON.stringify(type)} is not supported`,
    `${where}.type`,
  );
}
