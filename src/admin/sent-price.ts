import { priceSchema } from "../config/schema.ts";
import { once } from "../encoding/lazy-schema.ts";
import { sentObject } from "./sent-fields.ts";

/** A price as administrators send it: a misspelt one would be nothing. */
export const sentPrice = once(() => sentObject(() => priceSchema.shape));
