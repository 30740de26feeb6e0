import * as z from "zod";
import { configSchema } from "../../../core/config/schema.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { once } from "../../../core/encoding/once.ts";
import { adminView, visibleSettings } from "./config-view.ts";
import { settingsSchema } from "./settings-schema.ts";

/** Kinds of settings that a form can edit. Tables, such as aliases and prices, have endpoints of their own. */
const KINDS = ["boolean", "integer", "number", "string"] as const;

/** A setting, as a form needs it. */
export const settingFieldSchema = () =>
  z.object({
    /** `group.field` of `GET` and `PUT /admin/settings`. */
    path: z.string(),
    /** Settings with the same heading belong together. */
    heading: z.string(),
    title: z.string(),
    description: z.string(),
    kind: z.enum(KINDS),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    /** Values with their titles; empty: any value within the bounds. */
    choices: z.array(z.object({ value: z.string(), title: z.string() })),
    /** Whether a text may have several lines. */
    multiline: z.boolean(),
    /** Shown while a text is empty. */
    placeholder: z.string(),
    default: z.union([z.boolean(), z.number(), z.string()]),
  });
export type SettingField = z.output<ReturnType<typeof settingFieldSchema>>;

type JsonSchema = z.core.JSONSchema.JSONSchema;

const toText = (value: unknown): string => (typeof value === "string" ? value : "");

/** The values that a schema lists: with titles, or else by their names. */
function listChoices({ anyOf = [], enum: values = [] }: JsonSchema): SettingField["choices"] {
  const titled = anyOf.flatMap((choice) =>
    isObject(choice) && typeof choice["const"] === "string"
      ? [{ value: choice["const"], title: toText(choice["title"]) }]
      : [],
  );
  if (titled.length > 0) return titled;
  return values.flatMap((value) => (typeof value === "string" ? [{ value, title: value }] : []));
}

/** Returns the field of a setting; null: a form cannot edit it. */
function toField(path: string, heading: string, schema: JsonSchema, standard: unknown): SettingField | null {
  const kind = KINDS.find((name) => name === schema.type);
  if (kind === undefined || schema.deprecated === true) return null;
  if (typeof standard !== "boolean" && typeof standard !== "number" && typeof standard !== "string")
    return null;
  const { minimum = Number(schema.exclusiveMinimum ?? Number.MIN_SAFE_INTEGER), maximum } = schema;
  return {
    path,
    heading,
    title: schema.title ?? path,
    description: schema.description ?? "",
    kind,
    ...(minimum > Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
    choices: listChoices(schema),
    multiline: schema.contentMediaType === "text/plain",
    placeholder: toText(schema.examples?.[0]),
    default: standard,
  };
}

/** Lists the settings that a form can edit, from the schema of `PUT /admin/settings`. */
export const listSettingFields = once((): readonly SettingField[] => {
  const { properties = {} } = z.toJSONSchema(settingsSchema, { io: "input", unrepresentable: "any" });
  const config = configSchema.parse({});
  const defaults: Record<string, object> = { ...visibleSettings(config), admin: adminView(config) };
  return Object.entries(properties).flatMap(([group, schema]) => {
    if (typeof schema === "boolean") return [];
    const standards = new Map<string, unknown>(Object.entries(defaults[group] ?? {}));
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      if (typeof field === "boolean") return [];
      return toField(`${group}.${name}`, schema.title ?? group, field, standards.get(name)) ?? [];
    });
  });
});
