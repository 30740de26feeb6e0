import { GatewayError } from "../../../core/errors/gateway-error.ts";

/** The error for a model whose name cannot be part of a request path. */
export function modelNotFound(name: string): GatewayError {
  return new GatewayError(400, `the model ${JSON.stringify(name)} does not exist`, {
    code: "model_not_found",
    param: "model",
  });
}
