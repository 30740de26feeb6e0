import { GatewayError } from "../../core/errors/gateway-error.ts";

/** Formats the entity tag of a configuration version (RFC 9110, 8.8.3). */
export const formatEtag = (version: number): string => `"${version}"`;

/**
 * Checks the `If-Match` header.
 *
 * @param version the present version
 * @throws GatewayError 412 if the header names other versions (RFC 9110, 13.1.1).
 */
export function assertIfMatch(request: Request, version: number): void {
  const ifMatch = request.headers.get("if-match");
  if (ifMatch === null || ifMatch.trim() === "*") return;
  // An intermediary (proxy, CDN) may have made our tag a weak one.
  const tags = ifMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (tags.includes(formatEtag(version))) return;
  throw new GatewayError(412, "the configuration has been changed since: read it again", {
    code: "invalid_request",
  });
}
