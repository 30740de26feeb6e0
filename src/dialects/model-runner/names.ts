/** Identifier of the style. */
export const ID = "model-runner";
