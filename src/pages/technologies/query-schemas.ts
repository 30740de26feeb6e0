import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { commonParameters, createBatchSchema } from "../http/query-schemas.ts";

/** Query of `GET /v1/technologies`. */
export const technologiesQuerySchema = lazyObject(commonParameters);

/** Body of `POST /v1/technologies`. */
export const technologiesBatchSchema = createBatchSchema(technologiesQuerySchema);
