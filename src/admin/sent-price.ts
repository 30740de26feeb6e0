import { priceSchema } from "../config/schema.ts";
import { once } from "../encoding/lazy-schema.ts";
import { requestObject } from "./sent-fields.ts";

/** Request schema of a price. Unknown fields are errors, because a misspelt price would have no effect. */
export const priceRequestSchema = once(() => requestObject(() => priceSchema.shape));
