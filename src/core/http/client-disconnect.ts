import { GatewayError } from "../errors/gateway-error.ts";
import { onAbort } from "./abort-signals.ts";

/** The error of a request whose client disconnected: 499. */
export function clientDisconnected(): GatewayError {
  return new GatewayError(499, "the client went away", { code: "request_cancelled" });
}

/** The error of a request whose client takes nothing of its answer: 499. */
export function clientStoppedReading(): GatewayError {
  return new GatewayError(499, "the client stopped reading", { code: "request_cancelled" });
}

/**
 * Creates an abort controller for the request's work. It also aborts when the client disconnects (at once if it already
 * has), until `stop` is called.
 */
export function abortOnDisconnect(request: Request): { abort: AbortController; stop: () => void } {
  const abort = new AbortController();
  return { abort, stop: onAbort(request.signal, () => abort.abort(clientDisconnected())) };
}
