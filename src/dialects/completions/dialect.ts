import { STANDARD_FAMILY } from "../../routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { createTextCompletion } from "./endpoints.ts";
import { ID } from "./request.ts";

/** The text-completions style, which came before chat completions: a prompt in, the text that follows it out. */
export const completions: Dialect = {
  id: ID,
  tag: "Text completions",
  family: STANDARD_FAMILY,
  paths: ["/v1/completions", "/completions"],
  credentials: [{ in: "bearer" }],
  endpoints: [createTextCompletion],
};
