import { GatewayError } from "../../src/core/errors/gateway-error.ts";

/** Returns the error that work throws. Rethrows errors of other types, and fails if the work does not throw. */
export function refusalOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
