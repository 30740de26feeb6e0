import { GatewayError } from "../../src/errors/gateway-error.ts";

/** The refusal that work ends with. Whatever else it throws is thrown on, and work that is done is a failure. */
export function refusalOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
