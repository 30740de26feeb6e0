/** Path prefix of the console's files, in browsers and among the assets. No API route starts with it. */
const CONSOLE_PATH = "/console/";
/** Matches file names that contain a hash of their content. */
const HASHED_FILE_NAME = /-[A-Z0-9]{8}\.(?:js|css)$/;

/** Content security policy of the console: only same-origin content, no inline scripts or styles, no framing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Maps a request path to the path of a console asset: `/admin` is the console, `/key` the page for holders of keys, and all
 * paths under `/console/` are assets. Returns null for all other paths, because other assets are internal to the program.
 */
export function getConsoleAssetPath(path: string): string | null {
  if (path === "/admin" || path === "/admin/") return `${CONSOLE_PATH}index.html`;
  if (path === "/key" || path === "/key/") return `${CONSOLE_PATH}key.html`;
  return path.startsWith(CONSOLE_PATH) ? path : null;
}

const ADMIN_PAGE = /^\/admin\/([a-z][a-z-]*)\/?$/;

/**
 * Leads a browser that opens `/admin/history` and its like to the console's page. Requests of programs, which the admin API
 * answers, do not say that they open a document.
 */
export function redirectToConsolePage(method: string, path: string, headers: Headers): Response | null {
  const [, page] = ADMIN_PAGE.exec(path) ?? [];
  if (page === undefined || method !== "GET" || headers.get("sec-fetch-dest") !== "document") return null;
  return new Response(null, { status: 302, headers: { location: `/admin#/${page}` } });
}

/** Serves a console file with the security headers of the page. Returns null if the path is not a console file. */
export async function serveConsoleFile(
  request: Request,
  url: URL,
  asset: (request: Request) => Promise<Response | null>,
): Promise<Response | null> {
  const file = getConsoleAssetPath(url.pathname);
  if (file === null) return null;
  if (request.method === "OPTIONS") {
    return new Response(null, { status: 204, headers: { allow: "GET, HEAD, OPTIONS" } });
  }
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  // Forward the conditional headers, so that an unchanged file is answered with 304.
  const assetResponse = await asset(
    new Request(new URL(file, url.origin), { method: request.method, headers: request.headers }),
  );
  if (assetResponse === null) return null;
  const headers = new Headers(assetResponse.headers);
  headers.set("content-security-policy", CONTENT_SECURITY_POLICY);
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set(
    "cache-control",
    HASHED_FILE_NAME.test(file) ? "public, max-age=31536000, immutable" : "no-cache",
  );
  return new Response(assetResponse.body, { status: assetResponse.status, headers });
}
