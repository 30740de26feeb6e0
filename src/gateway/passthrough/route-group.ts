import { STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import type { LazyRouteGroup } from "../../core/routing/route-group.ts";

/** Endpoints whose requests and answers pass through without translation. */
export const PASSTHROUGH_GROUP: LazyRouteGroup = {
  tag: "Images, audio, moderations, ranking, batches",
  family: STANDARD_FAMILY,
  paths: [
    "/v1/moderations",
    "/v1/rerank",
    "/rerank",
    "/v1/images",
    "/v1/audio",
    "/v1/batches",
    "/v1/realtime",
  ],
  credentials: [
    // Azure's clients.
    { in: "header", name: "api-key" },
    // Browsers, which cannot set headers of a WebSocket.
    { in: "header", name: "sec-websocket-protocol", prefix: "openai-insecure-api-key." },
  ],
  load: async () => (await import("./routes.ts")).PASSTHROUGH_ROUTES,
};
