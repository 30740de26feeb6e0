import { objectSchema } from "../routing/error-formats.ts";
import type { RouteFamily } from "../routing/surface.ts";

/** The admin API: an error is `{detail}` with a message for people (contract, Errors). */
export const ADMIN_FAMILY: RouteFamily = {
  id: "admin",
  formatError: ({ message }) => ({ detail: message }),
  errorSchema: objectSchema({ detail: { type: "string" } }),
};
