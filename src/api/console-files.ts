/** Where the console's files live, for browsers and among the assets; no API route begins like this. */
const FILES = "/console/";
/** Names that carry a hash of their content. */
const HASHED = /-[A-Z0-9]{8}\.(?:js|css)$/;

/** Nothing comes from elsewhere, nothing runs inline, nobody frames the page. */
const POLICY = [
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
 * Where among the assets the console's file at a path is: the page itself for `/admin`, and whatever is under `/console/`.
 * Null for all other paths: other assets are for the program alone.
 */
export function consoleFile(path: string): string | null {
  if (path === "/admin" || path === "/admin/") return `${FILES}index.html`;
  return path.startsWith(FILES) ? path : null;
}

/** The console's file that a request asks for, with the headers of the page's policy; null when there is none. */
export async function serveConsole(
  request: Request,
  url: URL,
  asset: (request: Request) => Promise<Response | null>,
): Promise<Response | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const file = consoleFile(url.pathname);
  if (file === null) return null;
  // Conditional headers go along, so that an unchanged file is a 304.
  const found = await asset(
    new Request(new URL(file, url.origin), { method: request.method, headers: request.headers }),
  );
  if (found === null) return null;
  const headers = new Headers(found.headers);
  headers.set("content-security-policy", POLICY);
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  headers.set("cross-origin-opener-policy", "same-origin");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set("cache-control", HASHED.test(file) ? "public, max-age=31536000, immutable" : "no-cache");
  return new Response(found.body, { status: found.status, headers });
}
