import { objectSchema } from "../../../core/routing/error-formats.ts";
import type { RouteFamily } from "../../../core/routing/route-group.ts";

/** The local-model-runner style. */
export const RUNNER_FAMILY: RouteFamily = {
  id: "runner",
  formatError: (error) => ({ error: error.message }),
  errorSchema: objectSchema({ error: { type: "string" } }),
};
