import { objectSchema } from "../routing/error-formats.ts";
import type { RouteFamily } from "../routing/surface.ts";

/** The admin API. An error is `{detail}` with a message for administrators (contract, Errors). */
export const ADMIN_FAMILY: RouteFamily = {
  id: "admin",
  formatError: ({ message }) => ({ detail: message }),
  errorSchema: objectSchema({ detail: { type: "string" } }),
};
