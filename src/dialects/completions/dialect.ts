import { STANDARD_FAMILY } from "../../routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { ID } from "./names.ts";

/** The text-completions style, which came before chat completions: a prompt in, the text that follows it out. */
export const completions: Dialect = {
  id: ID,
  tag: "Text completions",
  family: STANDARD_FAMILY,
  paths: ["/v1/completions", "/completions"],
  credentials: [{ in: "bearer" }],
  load: async () => [(await import("./endpoints.ts")).createTextCompletion],
};
