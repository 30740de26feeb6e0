import * as z from "zod";

const otherForms = new WeakMap<z.core.$ZodType, () => readonly z.ZodType[]>();

/**
 * A schema whose values may also come in other forms, which `normalize` brings into its own. Faults are named as in its own
 * form; a union could not say which field is at fault. The OpenAPI document shows all forms.
 */
export function inOtherFormsToo<Schema extends z.ZodType>(
  schema: Schema,
  others: () => readonly z.ZodType[],
  normalize: (value: unknown) => unknown,
) {
  const normalized = z.preprocess(normalize, schema);
  otherForms.set(normalized, others);
  return normalized;
}

/** The other forms of a schema's values; most have none. */
export function otherFormsOf(schema: z.core.$ZodType): readonly z.ZodType[] {
  return otherForms.get(schema)?.() ?? [];
}
