import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { saysModelIsMissing } from "../errors/missing-model.ts";

/** Statuses with which backends answer paths or functions that they do not have. */
const MISSING_ENDPOINT: readonly number[] = [404, 405, 501];

/** Creates the 501 for an endpoint that a provider does not have. */
export function missingEndpointError(path: string, provider = ""): GatewayError {
  const which = provider === "" ? "the provider" : `the provider ${JSON.stringify(provider)}`;
  return new GatewayError(501, `${which} has no endpoint ${path}`, { code: "unsupported" });
}

/** The phrase with which the public API refuses a chat model at the endpoint of text completions. */
const OTHER_ENDPOINT = /\bdid you mean to use \S*v1\//i;

/** Whether a failure says that the backend does not have the endpoint, at least for the model. */
export function isEndpointMissing(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return (
    OTHER_ENDPOINT.test(error.message) ||
    (MISSING_ENDPOINT.includes(error.status) && !saysModelIsMissing(error))
  );
}

/** The error of a refused request: a 501 if the backend does not have the endpoint, else the backend's own error. */
export function createEndpointError(error: ProviderError, path: string): ProviderError | GatewayError {
  return isEndpointMissing(error) ? missingEndpointError(path) : error;
}
