import * as z from "zod";
import { isObject } from "../encoding/json.ts";

/**
 * How views, audit entries and diffs show a secret. `hidden` shows only that it exists. `shortened` shows enough for its
 * owner to recognise it. `origin` shows the host of a URL.
 */
export type SecretForm = "hidden" | "shortened" | "origin";

/** Visibility of parts of the configuration's schema. `public`: all members may be shown, unknown ones included. */
const VISIBILITY = z.registry<{ readonly form: SecretForm | "public" }>();

/** A schema or a part of one. */
type Schema = z.core.$ZodType;

/** Marks a schema and all its members as secret. */
export function markSecret<Marked extends z.ZodType>(schema: Marked, form: SecretForm = "hidden"): Marked {
  VISIBILITY.add(schema, { form });
  return schema;
}

/** Marks a schema as public, including unknown members, which are hidden otherwise. */
export function markPublic<Marked extends z.ZodType>(schema: Marked): Marked {
  VISIBILITY.add(schema, { form: "public" });
  return schema;
}

/** The visibility of a schema part; undefined if it is not marked. */
export const visibilityOf = (schema: Schema): SecretForm | "public" | undefined =>
  VISIBILITY.get(schema)?.form;

const HIDDEN = "****";

/** Shortens a secret so that its owner recognises it and no reader can use it; empty for an empty one. */
export function shortenSecret(text: string): string {
  if (text === "") return "";
  return text.length < 16 ? HIDDEN : `${text.slice(0, 4)}${HIDDEN}${text.slice(-4)}`;
}

/** Whether a text is a {@link shortenSecret} of a secret or of a digest, instead of a secret. */
export function isShortenedSecret(text: string): boolean {
  return /^(?:[\s\S]{4})?\*{4}(?:[\s\S]{4})?$/.test(text);
}

function maskUrlPath(address: string): string {
  const url = URL.parse(address);
  if (url === null) return shortenSecret(address);
  const pathAndQuery = `${url.pathname}${url.search}`;
  return `${url.origin}${pathAndQuery.length <= 1 ? pathAndQuery : `/${HIDDEN}`}`;
}

function maskInForm(form: SecretForm, text: string): string {
  if (text === "") return "";
  switch (form) {
    case "hidden":
      return HIDDEN;
    case "shortened":
      return shortenSecret(text);
    case "origin":
      return maskUrlPath(text);
  }
}

/** Unwraps schemas that only add a default, a check or a transform. Each wrapper may be marked. */
function unwrapSchema(schema: Schema): Schema {
  if (visibilityOf(schema) !== undefined) return schema;
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  ) {
    return unwrapSchema(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrapSchema(schema.in) : schema;
}

const hasMembers = (schema: Schema) =>
  schema instanceof z.ZodObject || schema instanceof z.ZodArray || schema instanceof z.ZodRecord;

/** Of a union, selects the option for values with members or for values without; otherwise returns the schema itself. */
function selectSchema(schema: Schema, withMembers: boolean): Schema | undefined {
  const inner = unwrapSchema(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  return inner.options.map(unwrapSchema).find((option) => hasMembers(option) === withMembers);
}

/**
 * The schema of a member, by its name or list index; undefined if this version does not know it. Members of a marked schema
 * have the same visibility.
 */
export function findMemberSchema(schema: Schema, name: string): Schema | undefined {
  const inner = selectSchema(schema, true);
  if (inner === undefined || visibilityOf(inner) !== undefined) return inner;
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
export function maskMarkedSecrets(schema: Schema | undefined, value: unknown): unknown {
  const selected = schema && selectSchema(schema, typeof value === "object" && value !== null);
  const visibility = selected === undefined ? "hidden" : visibilityOf(selected);
  if (visibility === "public") return value;
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) =>
      maskMarkedSecrets(schema && findMemberSchema(schema, `${index}`), item),
    );
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => [
      name,
      maskMarkedSecrets(schema && findMemberSchema(schema, name), member),
    ]);
    return Object.fromEntries(members);
  }
  if (visibility === undefined || value === null || value === undefined) return value;
  return typeof value === "string" ? maskInForm(visibility, value) : HIDDEN;
}

/** Masks a single text of the configuration if its schema marks it as secret. */
export function maskText(schema: Schema, text: string): string {
  const visibility = visibilityOf(unwrapSchema(schema));
  return visibility === undefined || visibility === "public" ? text : maskInForm(visibility, text);
}

/** Iterates over the texts that the schema marks as secret, with their places: `providers[0].headers.Authorization`. */
export function* findSecrets(
  schema: Schema,
  value: unknown,
  place = "",
): Generator<{ readonly place: string; readonly text: string }> {
  const visibility = visibilityOf(unwrapSchema(schema));
  if (visibility === "public") return;
  if (typeof value === "string") {
    if (visibility !== undefined) yield { place, text: value };
    return;
  }
  const members = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  for (const [name, member] of members) {
    const inner = findMemberSchema(schema, name);
    if (inner === undefined) continue;
    const separator = place === "" ? "" : ".";
    yield* findSecrets(
      inner,
      member,
      Array.isArray(value) ? `${place}[${name}]` : `${place}${separator}${name}`,
    );
  }
}
