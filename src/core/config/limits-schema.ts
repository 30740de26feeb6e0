import type * as z from "zod";
import type { LimitName } from "./limit-kinds.ts";
import { markPublic } from "./secret-masking.ts";
import { amountSchema, countSchema, extensibleObject } from "./shared-fields.ts";

/** Limits of a key, a team, a user, a tag or a provider. 0 or absent: unlimited. Costs are in the currency of the prices. */
export const limitsSchema = markPublic(
  extensibleObject(
    () =>
      ({
        requests_per_minute: countSchema().optional(),
        tokens_per_minute: countSchema().optional(),
        max_parallel: countSchema().optional(),
        tokens_per_day: countSchema().optional(),
        tokens_per_month: countSchema().optional(),
        cost_per_day: amountSchema().optional(),
        cost_per_month: amountSchema().optional(),
      }) satisfies Record<LimitName, z.ZodType>,
  ),
);
