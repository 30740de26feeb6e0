import { DRIVER_NAMES } from "../../provider/drivers.ts";
import { parseVariables, VariableError, type Variables } from "../variables.ts";

/** The variables of the process. One that is not what it may be ends it: the reason is printed, the exit code is 1. */
export function variablesOrExit(): Variables {
  try {
    return parseVariables(Deno.env.toObject(), { drivers: DRIVER_NAMES });
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    console.error(error.message);
    return Deno.exit(1);
  }
}
