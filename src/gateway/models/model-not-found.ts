import { GatewayError } from "../../core/errors/gateway-error.ts";

/** The error of a model name that does not resolve. */
export class ModelNotFoundError extends GatewayError {
  /** The name as the caller wrote it. */
  readonly requested: string;

  /** @param status 404 where the name is part of the path */
  constructor(requested: string, message: string, status: 400 | 404 = 400) {
    super(status, message, { code: "model_not_found", param: "model" });
    this.requested = requested;
  }
}
