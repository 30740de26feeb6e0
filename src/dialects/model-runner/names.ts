/** The name of the style. */
export const ID = "model-runner";
