import { EMBEDDINGS_STYLE, FILES_STYLE } from "../../core/config/styles.ts";
import { STANDARD_FAMILY } from "../../core/routing/error-formats.ts";
import type { RouteGroup } from "../../core/routing/route-group.ts";
import { createEmbeddings } from "./embeddings.ts";
import { FILE_ENDPOINTS } from "./files.ts";
import { healthz, readyz } from "./health.ts";
import { listModels, readModel } from "./models.ts";

const SHARED = { tag: "Models, embeddings, files", family: STANDARD_FAMILY };

/** Routes of the standard style other than conversations (models, embeddings, files), and the health probes. */
export const STANDARD_ROUTES: readonly RouteGroup[] = [
  { ...SHARED, id: EMBEDDINGS_STYLE, paths: ["/embeddings"], endpoints: [createEmbeddings] },
  { ...SHARED, id: FILES_STYLE, paths: ["/files"], endpoints: FILE_ENDPOINTS },
  { ...SHARED, paths: ["/models"], endpoints: [listModels, readModel, healthz, readyz] },
];
