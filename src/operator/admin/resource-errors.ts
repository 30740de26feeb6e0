import { GatewayError } from "../../core/errors/gateway-error.ts";

/** Creates the 404 error for something that does not exist. */
export function notFoundError(description: string): GatewayError {
  return new GatewayError(404, `${description} does not exist`, { code: "not_found" });
}

/** Creates the 409 error for something that already exists. `param` is the field that names it. */
export function conflictError(description: string, param: string | null = null): GatewayError {
  const message = `${param === null ? "" : `${param}: `}${description} exists already`;
  return new GatewayError(409, message, { code: "invalid_request", param });
}

/** Creates the 409 error for an id that another entry has. `kind` has its article, as in "a team". */
export function idTakenError(kind: string, id: string): GatewayError {
  const message = `id: ${kind} with this id exists already (${JSON.stringify(id)}): choose another id`;
  return new GatewayError(409, message, { code: "invalid_request", param: "id" });
}

/**
 * Returns `value` if it was found. `false` means: a deletion found nothing.
 *
 * @param kind kind of thing, for the error message
 * @param name its name, for the error message
 * @throws GatewayError 404 if nothing was found.
 */
export function requireFound<T>(value: T | null | undefined | false, kind: string, name: string): T {
  if (value === null || value === undefined || value === false) {
    throw notFoundError(`${kind} ${JSON.stringify(name)}`);
  }
  return value;
}
