/** The name of the style. */
export const ID = "completions";
