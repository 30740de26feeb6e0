import { claims, type SurfaceEdge } from "./surface.ts";

/** Request headers that every preflight allows, whatever the surface (contract, general rule 4). */
const COMMON_HEADERS = [
  "Content-Type",
  "Authorization",
  "X-API-Key",
  "X-Gateway-Target-Account",
  "X-Gateway-Source",
  "X-Hosting-Protection-Bypass",
  "X-Vercel-Protection-Bypass",
];

/** Never allowed from a browser, whatever a preflight declares. */
const BLOCKED = "x-gateway-internal-token";

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A preflight declares at most this many characters of header names; what is longer is no client's. */
const MAX_DECLARED = 4_096;

/** What pages of other origins may do with some surfaces (contract, general rule 4). */
export class CorsPolicy {
  readonly #paths: readonly string[];
  /** Those of surfaces for their own pages only. */
  readonly #ownPages: readonly string[];
  readonly #headers: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #exposed: string;

  constructor(surfaces: readonly SurfaceEdge[]) {
    this.#paths = surfaces.flatMap(({ paths }) => paths);
    this.#ownPages = surfaces.flatMap(({ paths, ownPagesOnly }) => (ownPagesOnly === true ? paths : []));
    this.#headers = [
      ...new Set([...COMMON_HEADERS, ...surfaces.flatMap(({ requestHeaders = [] }) => requestHeaders)]),
    ];
    this.#known = new Set(this.#headers.map((name) => name.toLowerCase()));
    const exposed = surfaces.flatMap(({ responseHeaders = [] }) => responseHeaders);
    this.#exposed = [...new Set(["x-request-id", ...exposed])].join(", ");
  }

  /** Whether CORS applies to a path: the API prefixes of the contract, their twins and the root shortcuts. */
  applies(path: string): boolean {
    return this.#paths.some((claim) => claims(claim, path));
  }

  /** Whether the browser says that a page of another origin asks. */
  isFromOtherPage(request: Request, url: URL): boolean {
    const origin = request.headers.get("origin");
    return origin !== null && URL.parse(origin)?.host !== (request.headers.get("host") ?? url.host);
  }

  /** Whether a path belongs to a surface for the program's own pages only. */
  isForOwnPages(path: string): boolean {
    return this.#ownPages.some((claim) => claims(claim, path));
  }

  /** The value of `Access-Control-Allow-Headers` for what a preflight declared. */
  allowedHeaders(declared: string | null): string {
    const extra = (declared ?? "")
      .slice(0, MAX_DECLARED)
      .split(",")
      .map((name) => name.trim())
      .filter(
        (name) => TOKEN.test(name) && name.toLowerCase() !== BLOCKED && !this.#known.has(name.toLowerCase()),
      );
    return [...this.#headers, ...new Set(extra)].join(", ");
  }

  /** Puts the CORS headers of an actual (not preflight) answer into `headers`. */
  setHeaders(headers: Headers, origin: string | null): void {
    headers.set("access-control-allow-origin", origin ?? "*");
    headers.set("access-control-expose-headers", this.#exposed);
    if (origin !== null) headers.append("vary", "Origin");
  }

  /** The answer to a preflight (`OPTIONS`) request. */
  preflight(request: Request): Response {
    const declared = request.headers.get("access-control-request-headers");
    const headers = new Headers({
      "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
      "access-control-allow-headers": this.allowedHeaders(declared),
      "access-control-max-age": "86400",
    });
    this.setHeaders(headers, request.headers.get("origin"));
    headers.append("vary", "Access-Control-Request-Headers");
    const asksForNetwork = request.headers.get("access-control-request-private-network") === "true";
    if (asksForNetwork && !this.isForOwnPages(new URL(request.url).pathname)) {
      headers.set("access-control-allow-private-network", "true");
    }
    return new Response(null, { status: 204, headers });
  }
}
