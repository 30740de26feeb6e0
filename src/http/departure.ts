import { GatewayError } from "../errors/gateway-error.ts";
import { LightAbortController } from "./light-abort-controller.ts";

/** What a request ends with whose client went away: 499. */
export function clientLeft(): GatewayError {
  return new GatewayError(499, "the client went away", { code: "request_cancelled" });
}

/**
 * Calls `left` once when a request's client goes away; at once, if it has gone already.
 *
 * @returns Keeps it from being called.
 */
export function onDeparture({ signal }: Request, left: () => void): () => void {
  if (signal.aborted) left();
  else signal.addEventListener("abort", left, { once: true });
  return () => signal.removeEventListener("abort", left);
}

/** What ends a request's work: also the client's going away, until `stop`, and when it has gone already. */
export function abortWith(request: Request): { abort: LightAbortController; stop: () => void } {
  const abort = new LightAbortController();
  return { abort, stop: onDeparture(request, () => abort.abort(clientLeft())) };
}
