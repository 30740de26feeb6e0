import { objectSchema } from "../../routing/error-formats.ts";
import type { RouteFamily } from "../../routing/surface.ts";

/** The local-model-runner style. */
export const RUNNER_FAMILY: RouteFamily = {
  id: "runner",
  formatError: (error) => ({ error: error.message }),
  errorSchema: objectSchema({ error: { type: "string" } }),
};
