import * as z from "zod";

/** A JSON object with string keys and any values. */
export const jsonObject = z.record(z.string(), z.unknown());

/** A boolean that clients may also send as null. */
export const optionalBoolean = z.boolean().nullish();

/** A number that clients may also send as null. */
export const optionalNumber = z.number().nullish();

/** A field that may only be absent, null or empty: what it asks for cannot be had, as `why` says. */
export function unsupported(why: string) {
  return z.union([z.null(), z.literal("")], why).optional();
}

/** A number, also one that is written as a string; undefined for anything else. */
export function finite(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
