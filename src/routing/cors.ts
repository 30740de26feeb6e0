/** Request headers that every preflight allows (contract, general rule 4), with their real-world twins. */
const DEFAULT_HEADERS = [
  "Content-Type",
  "Authorization",
  "X-API-Key",
  "X-Gateway-Target-Account",
  "X-Gateway-Source",
  "X-Hosting-Protection-Bypass",
  "X-Vendorc-Api-Key",
  "Vendorb-Version",
  "Vendorb-Beta",
  "X-Goog-Api-Key",
  "Anthropic-Version",
  "Anthropic-Beta",
  "X-Vercel-Protection-Bypass",
] as const;

/** Never allowed from a browser, whatever a preflight declares. */
const BLOCKED = "x-gateway-internal-token";

const KNOWN = new Set<string>(DEFAULT_HEADERS.map((name) => name.toLowerCase()));
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const EXPOSED =
  "x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, x-cache, etag, age, x-image-width, x-image-height, x-page-url, x-page-status, x-page-incomplete, x-page-over-budget, x-page-cut-at";
const ROOT_SHORTCUTS = /^\/(?:models|chat\/completions|responses|embeddings|files|messages)(?:\/|$)/;

/** Whether CORS applies to a path: the API prefixes of the contract, their twins and the root shortcuts. */
export function corsApplies(path: string): boolean {
  return (
    path.startsWith("/v1/") ||
    path.startsWith("/v1beta/") ||
    path.startsWith("/vendorb/") ||
    path.startsWith("/anthropic/") ||
    path.startsWith("/api/") ||
    path.startsWith("/admin/") ||
    ROOT_SHORTCUTS.test(path)
  );
}

/** A preflight declares at most this many characters of header names; what is longer is no client's. */
const MAX_DECLARED = 4_096;

/** The value of `Access-Control-Allow-Headers` for what a preflight declared. */
export function allowedHeaders(declared: string | null): string {
  const extra = (declared ?? "")
    .slice(0, MAX_DECLARED)
    .split(",")
    .map((name) => name.trim())
    .filter((name) => TOKEN.test(name) && name.toLowerCase() !== BLOCKED && !KNOWN.has(name.toLowerCase()));
  return [...DEFAULT_HEADERS, ...new Set(extra)].join(", ");
}

/** Puts the CORS headers of an actual (not preflight) answer into `headers`. */
export function setCorsHeaders(headers: Headers, origin: string | null): void {
  headers.set("access-control-allow-origin", origin ?? "*");
  headers.set("access-control-expose-headers", EXPOSED);
  if (origin !== null) headers.append("vary", "Origin");
}

/** The answer to a preflight (`OPTIONS`) request. */
export function preflight(request: Request): Response {
  const headers = new Headers({
    "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
    "access-control-allow-headers": allowedHeaders(request.headers.get("access-control-request-headers")),
    "access-control-max-age": "86400",
  });
  setCorsHeaders(headers, request.headers.get("origin"));
  headers.append("vary", "Access-Control-Request-Headers");
  if (request.headers.get("access-control-request-private-network") === "true") {
    headers.set("access-control-allow-private-network", "true");
  }
  return new Response(null, { status: 204, headers });
}
