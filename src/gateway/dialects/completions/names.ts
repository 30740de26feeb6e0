/** Identifier of the style. */
export const DIALECT_ID = "completions";
