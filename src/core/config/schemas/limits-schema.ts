import { LIMIT_KINDS, mapLimits } from "../limit-kinds.ts";
import { markPublic } from "../marked-secrets.ts";
import { amountSchema, countSchema, extensibleObject } from "./shared-fields.ts";

/** Limits of a key, a team, a user, a tag or a provider. 0 or absent: unlimited. Costs are in the currency of the prices. */
export const limitsSchema = markPublic(
  extensibleObject(() =>
    mapLimits((name) => (LIMIT_KINDS[name].unit === "cost" ? amountSchema() : countSchema()).optional()),
  ),
);
