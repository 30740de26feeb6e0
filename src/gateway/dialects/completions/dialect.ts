import { STANDARD_FAMILY } from "../../../core/routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { DIALECT_ID } from "./names.ts";

/**
 * The text-completions style, the predecessor of chat completions: it takes a prompt and returns the text that follows it.
 */
export const completions: Dialect = {
  id: DIALECT_ID,
  tag: "Text completions",
  family: STANDARD_FAMILY,
  paths: ["/v1/completions", "/completions"],
  credentials: [{ in: "bearer" }],
  load: async () => [(await import("./endpoints.ts")).createTextCompletion],
};
