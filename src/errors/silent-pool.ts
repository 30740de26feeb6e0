import { GatewayError } from "./gateway-error.ts";

/** After how many seconds who was told so may ask again: about as long as a lost pool takes to come back. */
const AGAIN_S = 5;

const CODE = "account_pool_unavailable";

/** One of several account pools does not answer, and nobody else can: 503 with `Retry-After`. */
export function silentPool(message: string, cause?: unknown): GatewayError {
  return new GatewayError(503, message, {
    code: CODE,
    headers: { "retry-after": String(AGAIN_S) },
    cause,
  });
}

/** Whether an error says so: nothing is known of the account then. */
export function isSilentPool(error: unknown): boolean {
  return error instanceof GatewayError && error.code === CODE;
}
