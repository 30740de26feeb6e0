import { GatewayError } from "../errors/gateway-error.ts";
import { drain } from "../http/drain.ts";

/** How long a refused upload is still read, in milliseconds. */
const DRAIN_MS = 60_000;

/** What a client still sends. */
export interface Rest {
  drain(): Promise<void>;
  cancel(): Promise<void>;
}

/** A body of which nothing has been read yet. */
export function restOf(request: Request): Rest {
  const reader = request.body?.getReader();
  return {
    drain: async () => (reader === undefined ? undefined : drain(reader)),
    cancel: async () => reader?.cancel(),
  };
}

/**
 * Reads what a refused client still sends: one that is cut off never sees the answer. Not for ever, and not for one that
 * has stopped sending or is gone.
 */
export async function forgetRest(rest: Rest, error: unknown): Promise<void> {
  if (error instanceof GatewayError && (error.status === 408 || error.status === 499)) {
    await rest.cancel().catch(() => undefined);
    return;
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([rest.drain().catch(() => undefined), enough]);
  clearTimeout(timer);
}
