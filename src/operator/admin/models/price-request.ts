import { priceSchema } from "../../../core/config/schemas/price-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { requestObject } from "../request-fields.ts";

/** Request schema of a price. Unknown fields are errors, because a misspelt price would have no effect. */
export const priceRequestSchema = once(() => requestObject(() => priceSchema.shape));
