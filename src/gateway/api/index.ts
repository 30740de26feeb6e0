import { STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import type { RouteGroup } from "../../core/routing/route-group.ts";
import { createEmbeddings } from "./embeddings.ts";
import { FILE_ENDPOINTS } from "./files.ts";
import { healthz, readyz } from "./health.ts";
import { listModels, readModel } from "./models.ts";

/** Routes of the standard style other than conversations (models, embeddings, files), and the health probes. */
export const STANDARD_ROUTES: RouteGroup = {
  tag: "Models, embeddings, files",
  family: STANDARD_FAMILY,
  paths: ["/models", "/embeddings", "/files"],
  endpoints: [createEmbeddings, ...FILE_ENDPOINTS, listModels, readModel, healthz, readyz],
};
