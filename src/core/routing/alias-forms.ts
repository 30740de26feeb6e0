import * as z from "zod";

const aliasForms = new WeakMap<z.core.$ZodType, () => readonly z.ZodType[]>();

/**
 * A schema that also accepts other forms of a value; `normalize` converts them to the canonical form. Errors name fields of
 * the canonical form; a union could not name the invalid field. The OpenAPI document lists all forms.
 */
export function withAliasForms<Schema extends z.ZodType>(
  schema: Schema,
  forms: () => readonly z.ZodType[],
  normalize: (value: unknown) => unknown,
) {
  const normalized = z.preprocess(normalize, schema);
  aliasForms.set(normalized, forms);
  return normalized;
}

/** The alternative forms of a schema's values; usually none. */
export function getAliasForms(schema: z.core.$ZodType): readonly z.ZodType[] {
  return aliasForms.get(schema)?.() ?? [];
}
