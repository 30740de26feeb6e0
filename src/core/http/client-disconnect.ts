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

/** The error of a request that still runs when the process ends: 503. */
function processEnding(): GatewayError {
  return new GatewayError(503, "the gateway is being stopped: send the request again", {
    code: "overloaded",
  });
}

/** What ends the work of a request early. */
interface EndedRequest {
  readonly request: Request;
  /** See `RequestRuntime`. */
  readonly beforeEnd?: (end: () => void) => void;
}

/**
 * Creates an abort controller for the request's work. It also aborts when the process ends, and when the client
 * disconnects (at once if it already has), until `stop` is called.
 */
export function abortOnDisconnect({ request, beforeEnd }: EndedRequest): {
  abort: AbortController;
  stop: () => void;
} {
  const abort = new AbortController();
  beforeEnd?.(() => abort.abort(processEnding()));
  return { abort, stop: onAbort(request.signal, () => abort.abort(clientDisconnected())) };
}

/**
 * The error of a request whose work threw: why the work was aborted (its deadline, the end of the process), else what was
 * thrown. A client that has left gets no error.
 */
export function explainAbort({ signal }: AbortController, thrown: unknown): unknown {
  const reason: unknown = signal.reason;
  return reason instanceof GatewayError && reason.status !== 499 ? reason : thrown;
}
