import * as z from "zod";

/** A JSON object with string keys and any values. */
export const jsonObject = z.record(z.string(), z.unknown());

/** A boolean that clients may also send as null. */
export const optionalBoolean = z.boolean().nullish();

/** A number that clients may also send as null. */
export const optionalNumber = z.number().nullish();

/** A field that must be absent, null or empty, because it is not supported. `why` is the error message. */
export function unsupportedField(message: string) {
  return z.union([z.null(), z.literal("")], message).optional();
}

/** Converts a number or a numeric string. Returns undefined for any other value. */
export function toFiniteNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
