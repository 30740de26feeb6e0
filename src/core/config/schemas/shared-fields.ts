import * as z from "zod";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import { once } from "../../encoding/once.ts";
import { withoutTrailingSlashes } from "../../encoding/path-segment.ts";
import { parseHostEntry } from "../../url-safety/index.ts";
import { BASE_ADDRESS_FAULT, isBaseAddress } from "../base-address.ts";

/** Fields that several parts of the configuration have. */
export const countSchema = once(() => z.number().int().min(0));
export const amountSchema = once(() => z.number().min(0));
/** Unix milliseconds. The maximum is the last time that a date can have. */
export const timeSchema = once(() =>
  countSchema().overwrite((value) => Math.min(value, 8_640_000_000_000_000)),
);
export const nameListSchema = once(() => z.array(z.string().trim().min(1)));

/** A base URL to which paths are appended: `http` or `https`, without a password. */
export const baseAddress = () =>
  z
    .string("a provider needs a base address")
    .trim()
    .refine(isBaseAddress, BASE_ADDRESS_FAULT)
    .transform(withoutTrailingSlashes);

/** Hosts in private networks that webhooks may use: `host` or `host:port`. */
export const privateHostsSchema = once(() =>
  z
    .array(
      z
        .string()
        .trim()
        .refine(
          (entry) => parseHostEntry(entry) !== null,
          "must be host or host:port, an IPv6 address in brackets",
        ),
    )
    .max(100),
);

/** An object schema that preserves unknown fields. Its type has only the known ones, so that values can be sent over RPC. */
export function extensibleObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
): z.ZodObject<Shape, z.core.$strip> {
  return lazyLooseObject(fields);
}
