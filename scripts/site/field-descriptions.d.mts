/** Descriptions of fields by the end of their path, for fields that the OpenAPI document does not describe. */
export const FIELD_DESCRIPTIONS: Record<string, string>;
