import { claimCovers, type RouteGroupMetadata } from "./route-group.ts";

/** Request headers that every preflight allows, for any route group (docs/contract.md, general rule 4). */
const COMMON_HEADERS = [
  "Content-Type",
  "Authorization",
  "X-API-Key",
  "X-Gateway-Target-Account",
  "X-Gateway-Provider",
  "X-Gateway-Tags",
  "X-Gateway-Timeout",
  "X-Gateway-Retries",
  "X-Gateway-Fallback",
  "X-Gateway-Source",
  "X-Hosting-Protection-Bypass",
  "X-Vercel-Protection-Bypass",
];

/** Browsers may never send this header, even if the preflight declares it. */
const BLOCKED_HEADER = "x-gateway-internal-token";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Limit of declared header names, in characters. No real client sends more. */
const MAX_DECLARED = 4_096;

/** The CORS rules of some route groups (docs/contract.md, general rule 4). */
export class CorsPolicy {
  readonly #paths: readonly string[];
  /** Paths of route groups that only the program's own pages may use. */
  readonly #ownPagePaths: readonly string[];
  readonly #headers: readonly string[];
  readonly #knownHeaders: ReadonlySet<string>;

  constructor(groups: readonly RouteGroupMetadata[]) {
    this.#paths = groups.flatMap(({ paths }) => paths);
    this.#ownPagePaths = groups.flatMap(({ paths, ownPagesOnly }) => (ownPagesOnly === true ? paths : []));
    this.#headers = [
      ...new Set([...COMMON_HEADERS, ...groups.flatMap(({ requestHeaders = [] }) => requestHeaders)]),
    ];
    this.#knownHeaders = new Set(this.#headers.map((name) => name.toLowerCase()));
  }

  /**
   * Whether CORS applies to a path: API prefixes of the contract, their aliases under real-world names, and root shortcuts.
   */
  appliesTo(path: string): boolean {
    return this.#paths.some((claim) => claimCovers(claim, path));
  }

  /** Whether the browser reports that a page of another origin sends the request. */
  isFromOtherPage(request: Request, url: URL): boolean {
    const origin = request.headers.get("origin");
    return origin !== null && URL.parse(origin)?.host !== (request.headers.get("host") ?? url.host);
  }

  /** Whether only the program's own pages may use the path. */
  isForOwnPages(path: string): boolean {
    return this.#ownPagePaths.some((claim) => claimCovers(claim, path));
  }

  /** The value of `Access-Control-Allow-Headers` for the headers that a preflight declares. */
  allowedHeaders(declared: string | null): string {
    const extra = (declared ?? "")
      .slice(0, MAX_DECLARED)
      .split(",")
      .map((name) => name.trim())
      .filter(
        (name) =>
          TOKEN.test(name) &&
          name.toLowerCase() !== BLOCKED_HEADER &&
          !this.#knownHeaders.has(name.toLowerCase()),
      );
    return [...this.#headers, ...new Set(extra)].join(", ");
  }

  /** Sets the CORS headers of an actual (not preflight) response. */
  setHeaders(headers: Headers, origin: string | null): void {
    headers.set("access-control-allow-origin", origin ?? "*");
    // The wildcard is allowed without credentials: keys are in headers that the page itself
    // sets (Fetch standard, section 3.3.3).
    headers.set("access-control-expose-headers", "*");
    if (origin !== null) headers.append("vary", "Origin");
  }

  /** The answer to a preflight (`OPTIONS`) request. */
  preflight(request: Request): Response {
    const declared = request.headers.get("access-control-request-headers");
    const headers = new Headers({
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": this.allowedHeaders(declared),
      "access-control-max-age": "86400",
    });
    this.setHeaders(headers, request.headers.get("origin"));
    headers.append("vary", "Access-Control-Request-Headers");
    const requestsPrivateNetwork = request.headers.get("access-control-request-private-network") === "true";
    if (requestsPrivateNetwork && !this.isForOwnPages(new URL(request.url).pathname)) {
      headers.set("access-control-allow-private-network", "true");
    }
    return new Response(null, { status: 204, headers });
  }
}
