import * as z from "zod";
import { lazyStrictObject } from "../encoding/lazy-schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";

/** As much of a name as is shown. */
const MAX_SHOWN = 40;

/** What is said of a field that there is not. */
const noSuchField = (name: string, known: readonly string[]): string =>
  `there is no field ${JSON.stringify(name.slice(0, MAX_SHOWN))}; the fields are ${known.join(", ")}`;

/**
 * What administrators send: a name that is no field of it is refused. A limit that is misspelt would be none, and whoever set it
 * would never know.
 *
 * @param told what is told of the same thing: clients send back what they have read, and its other fields change nothing
 */
export function sentObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
  told?: () => z.ZodObject,
): z.ZodObject<Shape, z.core.$strict>;
export function sentObject(fields: () => z.core.$ZodLooseShape, told?: () => z.ZodObject): z.ZodObject {
  return lazyStrictObject(
    () => {
      const own = fields();
      const others = Object.keys(told?.().shape ?? {}).map((name) => [name, z.unknown().optional()] as const);
      return { ...Object.fromEntries(others), ...own };
    },
    (name) => noSuchField(name, Object.keys(fields())),
  );
}

/**
 * The same where what is there already may have fields that this version does not know: those may be sent.
 *
 * @param param names what was sent for people; empty: the whole body
 * @param taken fields that are let through beside those that are `known`
 * @throws GatewayError 400 that names the field.
 */
export function refuseStrangers(
  sent: Readonly<Record<string, unknown>>,
  known: readonly string[],
  param: string,
  taken: readonly string[],
): void {
  const stranger = Object.keys(sent).find((name) => !known.includes(name) && !taken.includes(name));
  if (stranger === undefined) return;
  const fault = noSuchField(stranger, known);
  const name = param === "" ? stranger : `${param}.${stranger}`;
  throw invalidRequest(param === "" ? fault : `${param}: ${fault}`, name);
}

/** What is said of a text or an object of which the object has a field too many; undefined: something else is wrong. */
export function strangerWithin(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const fault = issue.errors.flat().find(({ code }) => code === "unrecognized_keys");
  if (fault === undefined) return undefined;
  return [...fault.path.map(String), fault.message].join(": ");
}
