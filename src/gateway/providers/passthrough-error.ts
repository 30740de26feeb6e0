import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { ProviderError } from "../../core/errors/provider-error.ts";
import { saysModelIsMissing } from "./backend-model-names.ts";

/** Statuses with which backends answer paths or functions that they do not have. */
const MISSING_ENDPOINT: readonly number[] = [404, 405, 501];

/** Creates the 501 for an endpoint that a provider does not have. */
export function missingEndpointError(path: string, provider = ""): GatewayError {
  const which = provider === "" ? "the provider" : `the provider ${JSON.stringify(provider)}`;
  return new GatewayError(501, `${which} has no endpoint ${path}`, { code: "unsupported" });
}

/** Whether a refusal says that the backend does not have the endpoint. */
export function isMissingEndpoint(error: ProviderError): boolean {
  return MISSING_ENDPOINT.includes(error.status) && !saysModelIsMissing(error);
}

/** The error of a refused request: a 501 if the backend does not have the endpoint, else the backend's own error. */
export function createEndpointError(error: ProviderError, path: string): ProviderError | GatewayError {
  return isMissingEndpoint(error) ? missingEndpointError(path) : error;
}
