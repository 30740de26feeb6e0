import { objectSchema } from "../../core/routing/error-formats.ts";
import type { RouteFamily } from "../../core/routing/route-group.ts";

/** The admin API. An error is `{detail}` with a message for administrators (docs/contract/errors.md). */
export const ADMIN_FAMILY: RouteFamily = {
  id: "admin",
  formatError: ({ message }) => ({ detail: message }),
  errorSchema: objectSchema({ detail: { type: "string" } }),
};
