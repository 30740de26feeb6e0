import { oncePer } from "../../core/encoding/once.ts";
import { parseVariables } from "../../core/variables/parse-variables.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { DRIVER_ALIASES, DRIVER_NAMES } from "../../gateway/providers/drivers.ts";

/**
 * The variables and secrets among a Worker's bindings. Parsed once for the Worker's own environment, and once for the one
 * that all Durable Objects of an isolate share.
 *
 * @throws VariableError for an invalid variable
 */
export const getVariables = oncePer(
  (env: object): Variables =>
    parseVariables({ ...env }, { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES }),
);
