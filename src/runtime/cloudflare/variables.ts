import { parseVariables, type Variables } from "../../core/ports/variables.ts";
import { DRIVER_ALIASES, DRIVER_NAMES } from "../../gateway/providers/drivers.ts";

const parsed = new WeakMap<object, Variables>();

/**
 * The variables and secrets among a Worker's bindings. Parsed once for the Worker's own environment, and once for the one
 * that all Durable Objects of an isolate share.
 *
 * @throws VariableError for an invalid variable
 */
export function getVariables(env: object): Variables {
  let variables = parsed.get(env);
  if (variables === undefined) {
    variables = parseVariables({ ...env }, { drivers: DRIVER_NAMES, driverAliases: DRIVER_ALIASES });
    parsed.set(env, variables);
  }
  return variables;
}
