import * as z from "zod";
import { isObject } from "../encoding/json.ts";

/**
 * How views, audit entries and diffs show a secret. `hidden` shows only that it exists. `shortened` shows enough for its
 * owner to recognise it. `origin` shows the host of a URL.
 */
export type SecretForm = "hidden" | "shortened" | "origin";

/** Visibility of parts of the configuration's schema. `public`: all members may be shown, unknown ones included. */
const MARKS = z.registry<{ readonly form: SecretForm | "public" }>();

/** A schema or a part of one. */
type Schema = z.core.$ZodType;

/** Marks a schema and all its members as secret. */
export function secret<Marked extends z.ZodType>(schema: Marked, form: SecretForm = "hidden"): Marked {
  MARKS.add(schema, { form });
  return schema;
}

/** Marks a schema as public, including unknown members, which are hidden otherwise. */
export function publicWithUnknown<Marked extends z.ZodType>(schema: Marked): Marked {
  MARKS.add(schema, { form: "public" });
  return schema;
}

/** The visibility of a schema part; undefined if it is not marked. */
export const markOf = (schema: Schema): SecretForm | "public" | undefined => MARKS.get(schema)?.form;

const HIDDEN = "****";

/** Shortens a secret so that its owner recognises it and no reader can use it; empty for an empty one. */
export function preview(text: string): string {
  if (text === "") return "";
  return text.length < 16 ? HIDDEN : `${text.slice(0, 4)}${HIDDEN}${text.slice(-4)}`;
}

/** Whether a text is a {@link preview} of a secret or of a digest, instead of a secret. */
export function isPreview(text: string): boolean {
  return /^(?:[\s\S]{4})?\*{4}(?:[\s\S]{4})?$/.test(text);
}

function originOf(address: string): string {
  const url = URL.parse(address);
  if (url === null) return preview(address);
  const rest = `${url.pathname}${url.search}`;
  return `${url.origin}${rest.length <= 1 ? rest : `/${HIDDEN}`}`;
}

function inForm(form: SecretForm, text: string): string {
  if (text === "") return "";
  switch (form) {
    case "hidden":
      return HIDDEN;
    case "shortened":
      return preview(text);
    case "origin":
      return originOf(text);
  }
}

/** Unwraps schemas that only add a default, a check or a transform. Each wrapper may be marked. */
function unwrapped(schema: Schema): Schema {
  if (markOf(schema) !== undefined) return schema;
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  ) {
    return unwrapped(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}

const hasMembers = (schema: Schema) =>
  schema instanceof z.ZodObject || schema instanceof z.ZodArray || schema instanceof z.ZodRecord;

/** Of a union, selects the option for values with members or for values without; otherwise returns the schema itself. */
function chosen(schema: Schema, withMembers: boolean): Schema | undefined {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  return inner.options.map(unwrapped).find((option) => hasMembers(option) === withMembers);
}

/**
 * The schema of a member, by its name or list index; undefined if this version does not know it. Members of a marked schema
 * share its mark.
 */
export function memberSchema(schema: Schema, name: string): Schema | undefined {
  const inner = chosen(schema, true);
  if (inner === undefined || markOf(inner) !== undefined) return inner;
  if (inner instanceof z.ZodArray) return inner.element;
  if (inner instanceof z.ZodRecord) return inner.valueType;
  return inner instanceof z.ZodObject && Object.hasOwn(inner.shape, name) ? inner.shape[name] : undefined;
}

/**
 * Masks the parts of a value that the schema marks as secret.
 *
 * @param schema undefined: this version does not know the value. It is hidden entirely, because a later version may store a
 * secret there.
 */
export function shown(schema: Schema | undefined, value: unknown): unknown {
  const own = schema && chosen(schema, typeof value === "object" && value !== null);
  const mark = own === undefined ? "hidden" : markOf(own);
  if (mark === "public") return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => shown(schema && memberSchema(schema, `${index}`), item));
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => [
      name,
      shown(schema && memberSchema(schema, name), member),
    ]);
    return Object.fromEntries(members);
  }
  if (mark === undefined || value === null || value === undefined) return value;
  return typeof value === "string" ? inForm(mark, value) : HIDDEN;
}

/** Masks a single text of the configuration if its schema marks it as secret. */
export function shownText(schema: Schema, text: string): string {
  const mark = markOf(unwrapped(schema));
  return mark === undefined || mark === "public" ? text : inForm(mark, text);
}

/** Iterates over the texts that the schema marks as secret, with their places: `providers[0].headers.Authorization`. */
export function* secretsIn(
  schema: Schema,
  value: unknown,
  place = "",
): Generator<{ readonly place: string; readonly text: string }> {
  const mark = markOf(unwrapped(schema));
  if (mark === "public") return;
  if (typeof value === "string") {
    if (mark !== undefined) yield { place, text: value };
    return;
  }
  const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  for (const [name, member] of members) {
    const inner = memberSchema(schema, name);
    if (inner === undefined) continue;
    const separator = place === "" ? "" : ".";
    yield* secretsIn(
      inner,
      member,
      Array.isArray(value) ? `${place}[${name}]` : `${place}${separator}${name}`,
    );
  }
}
