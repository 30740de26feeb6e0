import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { momentParameters } from "../http/moment-parameters.ts";
import { commonParameters, flag } from "../http/query-schemas.ts";

/** Query of `GET /v1/metadata`. */
export const metadataQuerySchema = lazyObject(() => ({
  ...commonParameters(),
  ...momentParameters(),
  technologies: flag("Also returns the technologies of the page."),
}));
