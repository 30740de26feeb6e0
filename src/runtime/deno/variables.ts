import {
  assertProviderAddress,
  parseVariables,
  VariableError,
} from "../../core/variables/parse-variables.ts";
import { describeUnknownVariables } from "../../core/variables/unknown-variables.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { DRIVER_ALIASES, DRIVER_NAMES } from "../../gateway/providers/drivers.ts";

/** Limit of request bodies in memory: a process may use more memory than an isolate. */
const BODY_BYTES = 256 * 1024 * 1024;

/** The variables of the process. For an invalid one, prints the reason and exits with code 1. */
export function readVariablesOrExit(): Variables {
  try {
    const env = Deno.env.toObject();
    const options = { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES, bodyBudgetBytes: BODY_BYTES };
    const variables = parseVariables(env, options);
    if (variables.development) assertProviderAddress(variables, DRIVER_NAMES);
    for (const warning of describeUnknownVariables(Object.keys(env), options, { isOwn: false }))
      console.warn(`Warning: ${warning}`);
    return variables;
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    console.error(error.message);
    return Deno.exit(1);
  }
}
