import type { Dialect } from "../dialect.ts";
import { RUNNER_FAMILY } from "./family.ts";
import { DIALECT_ID } from "./names.ts";

/** The local-model-runner style. */
export const modelRunner: Dialect = {
  id: DIALECT_ID,
  tag: "Local-model-runner style",
  family: RUNNER_FAMILY,
  paths: ["/api/"],
  credentials: [{ in: "bearer" }],
  load: async () => (await import("./index.ts")).RUNNER_ENDPOINTS,
};
