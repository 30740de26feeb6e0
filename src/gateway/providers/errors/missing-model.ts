import { ProviderError } from "../../../core/errors/provider-error.ts";

/** Phrases with which backends without an error code for it report an unknown model. */
const NO_MODEL =
  /\bmodel\b.{0,200}\b(?:not (?:found|exist|available)|(?:does not|doesn't|don't) exist|unknown)|unknown model/i;

/** Whether a backend refuses a request because it does not have the model. An overloaded backend (5xx) does not count. */
export function isMissingModelError(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.status < 400 || error.status > 499) return false;
  return (
    error.kind === "model_unavailable" || (error.kind === "invalid_request" && NO_MODEL.test(error.message))
  );
}

/** Whether the words or the code of an error say that a model is missing. */
export function saysModelIsMissing({ message, upstreamFault }: ProviderError): boolean {
  return upstreamFault.code === "model_not_found" || NO_MODEL.test(message);
}
