import type { CallerEndpoint } from "../../core/routing/endpoint.ts";
import { BATCH_ENDPOINTS } from "./batch-endpoints.ts";
import { TABLE_ENDPOINTS } from "./endpoints.ts";
import { REALTIME_ENDPOINT } from "./realtime-endpoint.ts";

/** All endpoints that pass through. */
export const PASSTHROUGH_ROUTES: readonly CallerEndpoint[] = [
  ...TABLE_ENDPOINTS,
  ...BATCH_ENDPOINTS,
  REALTIME_ENDPOINT,
];
