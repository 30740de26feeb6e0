import { markPublic } from "./secret-masking.ts";
import { amount, count, extensibleObject } from "./shared-fields.ts";

/** Limits of a key, a team, a user, a tag or a provider. 0 or absent: unlimited. Costs are in the currency of the prices. */
export const limitsSchema = markPublic(
  extensibleObject(() => ({
    requests_per_minute: count().optional(),
    tokens_per_minute: count().optional(),
    max_parallel: count().optional(),
    tokens_per_day: count().optional(),
    tokens_per_month: count().optional(),
    cost_per_day: amount().optional(),
    cost_per_month: amount().optional(),
  })),
);
