import { STANDARD_FAMILY } from "../../../core/routing/error-formats.ts";
import type { Dialect } from "../dialect.ts";
import { DIALECT_ID } from "./names.ts";

/** The responses style. */
export const responses: Dialect = {
  id: DIALECT_ID,
  tag: "Responses",
  family: STANDARD_FAMILY,
  paths: ["/v1/responses", "/responses"],
  credentials: [{ in: "bearer" }],
  load: async () => (await import("./index.ts")).RESPONSES_ENDPOINTS,
};
