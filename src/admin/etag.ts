import { GatewayError } from "../errors/gateway-error.ts";

/** The entity tag of a version of the configuration (RFC 9110, 8.8.3). */
export const etagOf = (version: number): string => `"${version}"`;

/**
 * @param version the present one
 * @throws GatewayError 412 for a request that was made for other versions (RFC 9110, 13.1.1).
 */
export function refuseStale(request: Request, version: number): void {
  const wanted = request.headers.get("if-match");
  if (wanted === null || wanted.trim() === "*") return;
  // What lies between may have made a weak one of ours.
  const tags = wanted.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (tags.includes(etagOf(version))) return;
  throw new GatewayError(412, "the configuration has been changed since: read it again", {
    code: "invalid_request",
  });
}
