import { GatewayError } from "../../core/errors/gateway-error.ts";
import { drain } from "../../core/http/drain.ts";
import { withTimeout } from "../../core/ports/clock.ts";

/** Maximum time for reading the rest of a rejected upload, in milliseconds. */
const DRAIN_MS = 60_000;

/** The unread part of a request body. */
export interface UnreadBody {
  drain(): Promise<void>;
  cancel(): Promise<void>;
}

/** Returns the body of a request that has not been read yet. */
export function getUnreadBody(request: Request): UnreadBody {
  const reader = request.body?.getReader();
  return {
    drain: async () => (reader === undefined ? undefined : drain(reader)),
    cancel: async () => reader?.cancel(),
  };
}

/**
 * Reads and discards the rest of a rejected upload, because a client whose upload is cut off never sees the answer. Stops
 * after 60 seconds, and at once if the client stopped sending (408) or disconnected (499).
 */
export async function discardUnreadBody(rest: UnreadBody, error: unknown): Promise<void> {
  if (error instanceof GatewayError && (error.status === 408 || error.status === 499)) {
    await rest.cancel().catch(() => undefined);
    return;
  }
  await withTimeout(
    rest.drain().catch(() => undefined),
    DRAIN_MS,
  );
}
