/** Identifier of the style. */
export const ID = "completions";
