import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { momentParameters } from "../http/moment-parameters.ts";
import { commonParameters } from "../http/query-schemas.ts";

/** Query of `GET /v1/technologies`. */
export const technologiesQuerySchema = lazyObject(() => ({ ...commonParameters(), ...momentParameters() }));
