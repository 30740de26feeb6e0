import { STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import type { LazyRouteGroup } from "../../core/routing/route-group.ts";

/** Endpoints whose requests and answers pass through without translation: images, audio, moderations, ranking, batches. */
export const PASSTHROUGH_GROUP: LazyRouteGroup = {
  tag: "Images, audio, moderations, ranking, batches",
  family: STANDARD_FAMILY,
  paths: ["/v1/moderations", "/v1/rerank", "/rerank", "/v1/images", "/v1/audio", "/v1/batches"],
  // Azure's clients.
  credentials: [{ in: "header", name: "api-key" }],
  load: async () => [
    ...(await import("./endpoints.ts")).PASSTHROUGH_ROUTES,
    ...(await import("./batch-endpoints.ts")).BATCH_ENDPOINTS,
  ],
};
