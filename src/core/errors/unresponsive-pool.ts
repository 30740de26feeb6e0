import { GatewayError } from "./gateway-error.ts";

/** After how many seconds the caller may retry: about the time in which a lost pool recovers. */
const RETRY_AFTER_S = 5;

const CODE = "account_pool_unavailable";

/** Creates the error for a pool shard that does not answer, and that no other shard can replace: 503 with `Retry-After`. */
export function unresponsivePoolError(message: string, cause?: unknown): GatewayError {
  return new GatewayError(503, message, {
    code: CODE,
    headers: { "retry-after": String(RETRY_AFTER_S) },
    cause,
  });
}

/** Whether an error reports a pool shard that does not answer. The account's state is then unknown. */
export function isUnresponsivePool(error: unknown): boolean {
  return error instanceof GatewayError && error.code === CODE;
}
