import * as z from "zod";
import { lazyStrictObject } from "../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";

/** Maximum number of characters of a field name in an error message. */
const MAX_SHOWN = 40;

/** Error message for an unknown field. */
const unknownFieldMessage = (name: string, known: readonly string[]): string =>
  `there is no field ${JSON.stringify(name.slice(0, MAX_SHOWN))}; the fields are ${known.join(", ")}`;

/**
 * Schema of a request body of the admin API. Unknown fields are errors, because a misspelt limit would silently have no
 * effect.
 *
 * @param viewSchema schema of the matching view. Clients may send its other fields back; they have no effect.
 */
export function requestObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
  viewSchema?: () => z.ZodObject,
): z.ZodObject<Shape, z.core.$strict>;
export function requestObject(
  fields: () => z.core.$ZodLooseShape,
  viewSchema?: () => z.ZodObject,
): z.ZodObject {
  return lazyStrictObject(
    () => {
      const requestFields = fields();
      const viewFields = Object.keys(viewSchema?.().shape ?? {}).map(
        (name) => [name, z.unknown().optional()] as const,
      );
      return { ...Object.fromEntries(viewFields), ...requestFields };
    },
    (name) => unknownFieldMessage(name, Object.keys(fields())),
  );
}

/**
 * Rejects unknown fields where stored entries may have fields that this version does not know. Those fields are allowed.
 *
 * @param param field name for error messages; empty: the whole body
 * @param alsoAllowed allowed fields in addition to `known`
 * @throws GatewayError 400 that names the field.
 */
export function rejectUnknownFields(
  sent: Readonly<Record<string, unknown>>,
  known: readonly string[],
  param: string,
  alsoAllowed: readonly string[],
): void {
  const unknownField = Object.keys(sent).find((name) => !known.includes(name) && !alsoAllowed.includes(name));
  if (unknownField === undefined) return;
  const fault = unknownFieldMessage(unknownField, known);
  const name = param === "" ? unknownField : `${param}.${unknownField}`;
  throw invalidRequest(param === "" ? fault : `${param}: ${fault}`, name);
}

/** Error message of a union whose object form has an unknown field; undefined: the issue is a different one. */
export function unknownFieldInUnion(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined;
  const fault = issue.errors.flat().find(({ code }) => code === "unrecognized_keys");
  if (fault === undefined) return undefined;
  return [...fault.path.map(String), fault.message].join(": ");
}
