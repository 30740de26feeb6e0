import { GatewayError } from "../errors/gateway-error.ts";

/** The 404 of a thing that is not there. */
export function missing(what: string): GatewayError {
  return new GatewayError(404, `${what} does not exist`, { code: "not_found" });
}

/** The 409 of a thing that is there already. */
export function duplicate(what: string, param: string | null = null): GatewayError {
  return new GatewayError(409, `${what} exists already`, { code: "invalid_request", param });
}

/**
 * What was looked for by its name: `kind` and `name` are for people. A false stands for a thing that could not be deleted
 * because it is not there.
 *
 * @throws GatewayError 404 when nothing was found.
 */
export function found<T>(thing: T | null | undefined | false, kind: string, name: string): T {
  if (thing === null || thing === undefined || thing === false) {
    throw missing(`${kind} ${JSON.stringify(name)}`);
  }
  return thing;
}
