import { GatewayError } from "../errors/gateway-error.ts";
import { LightAbortController } from "./light-abort-controller.ts";

/** What a request ends with whose client went away: 499. */
export function clientLeft(): GatewayError {
  return new GatewayError(499, "the client went away", { code: "request_cancelled" });
}

/** What ends a request's work: also the client's going away, until `stop`, and when it has gone already. */
export function abortWith({ signal }: Request): { abort: LightAbortController; stop: () => void } {
  const abort = new LightAbortController();
  const left = () => abort.abort(clientLeft());
  if (signal.aborted) left();
  signal.addEventListener("abort", left, { once: true });
  return { abort, stop: () => signal.removeEventListener("abort", left) };
}
