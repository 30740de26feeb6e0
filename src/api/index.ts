import { STANDARD_FAMILY } from "../routing/error-formats.ts";
import type { Surface } from "../routing/surface.ts";
import { createEmbeddings } from "./embeddings.ts";
import { FILES } from "./files.ts";
import { healthz, readyz } from "./health.ts";
import { listModels, readModel } from "./models.ts";

/** Routes of the standard style other than conversations (models, embeddings, files), and the health probes. */
export const API: Surface = {
  tag: "Models, embeddings, files",
  family: STANDARD_FAMILY,
  paths: ["/models", "/embeddings", "/files"],
  endpoints: [createEmbeddings, ...FILES, listModels, readModel, healthz, readyz],
};
