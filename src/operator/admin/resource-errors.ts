import { GatewayError } from "../../core/errors/gateway-error.ts";

/** Creates the 404 error for something that does not exist. */
export function notFoundError(what: string): GatewayError {
  return new GatewayError(404, `${what} does not exist`, { code: "not_found" });
}

/** Creates the 409 error for something that already exists. */
export function conflictError(what: string, param: string | null = null): GatewayError {
  return new GatewayError(409, `${what} exists already`, { code: "invalid_request", param });
}

/**
 * Returns `thing` if it was found. `false` means: a deletion found nothing.
 *
 * @param kind kind of thing, for the error message
 * @param name its name, for the error message
 * @throws GatewayError 404 if nothing was found.
 */
export function requireFound<T>(thing: T | null | undefined | false, kind: string, name: string): T {
  if (thing === null || thing === undefined || thing === false) {
    throw notFoundError(`${kind} ${JSON.stringify(name)}`);
  }
  return thing;
}
