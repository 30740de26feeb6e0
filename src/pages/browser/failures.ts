import { GatewayError } from "../../core/errors/gateway-error.ts";
import { PRIVATE_HOSTS_ADVICE } from "../http/page-address.ts";

/** The page leads to an address that is not public. */
export function forbiddenPage(): GatewayError {
  return new GatewayError(
    400,
    `The page leads to an address that is not on the public internet. ${PRIVATE_HOSTS_ADVICE}`,
    { code: "forbidden_url", param: "url" },
  );
}

/** The address returns no page, but for example a download or a PDF. */
export function notRenderable(kind: string): GatewayError {
  return new GatewayError(422, `The address leads to ${kind}, not to a page that a browser shows.`, {
    code: "page_not_renderable",
    param: "url",
  });
}

/** The page exceeded its time limit. */
export function pageTimeout(): GatewayError {
  return new GatewayError(504, "The page took too long.", { code: "page_timeout", param: "url" });
}

/** The page's scripts run without a pause, so the browser cannot process it. */
export function pageBusy(): GatewayError {
  return new GatewayError(504, "The page keeps its browser busy without a pause.", {
    code: "page_timeout",
    param: "url",
  });
}

/** The page loads more than its limit. */
export function pageTooLarge(): GatewayError {
  return new GatewayError(422, "The page loads more than a page may.", {
    code: "page_too_large",
    param: "url",
  });
}

/** The page crashed its tab. */
export function pageCrashed(cause?: unknown): GatewayError {
  return new GatewayError(502, "The page crashed the browser's tab.", {
    code: "page_crashed",
    param: "url",
    cause,
  });
}

/** No browser is available, now or in this deployment. */
export function browserUnavailable(cause?: unknown): GatewayError {
  return new GatewayError(503, "No browser is available at the moment.", {
    code: "browser_unavailable",
    headers: { "retry-after": "10" },
    cause,
  });
}

/** The queue for a tab is full, or the request waited too long. */
export function overloaded(): GatewayError {
  return new GatewayError(503, "Too many pages are being loaded; try again soon.", {
    code: "overloaded",
    headers: { "retry-after": "5" },
  });
}

/** Chromium's net errors that get an error code of their own. */
const DNS = /ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION_FAILED|ERR_DNS_|ERR_ICANN_NAME_COLLISION/;
const TLS = /ERR_CERT_|ERR_SSL_|ERR_BAD_SSL|ERR_QUIC_PROTOCOL|ERR_TLS/;
const NET_ERROR = /net::(ERR_[A-Z0-9_]+)/;

/** Converts the error text of a failed navigation to an error for the caller. */
export function navigationFailure(text: string): GatewayError {
  const name = NET_ERROR.exec(text)?.[1] ?? "";
  const unreachable = (
    code: "page_dns_failed" | "page_tls_failed" | "page_redirect_loop" | "page_unreachable",
    message: string,
  ) => new GatewayError(502, name === "" ? message : `${message} (${name})`, { code, param: "url" });
  if (DNS.test(name)) return unreachable("page_dns_failed", "The page's host name does not exist.");
  if (TLS.test(name)) {
    return unreachable("page_tls_failed", "No secure connection to the page's host can be made.");
  }
  if (name === "ERR_TOO_MANY_REDIRECTS") {
    return unreachable("page_redirect_loop", "The page redirects without end.");
  }
  // A proxy, such as the filter of the development browser, does not report why it could not connect.
  if (/^ERR_(?:SOCKS|PROXY|TUNNEL)_CONNECTION/.test(name)) {
    const message = "The page's host does not exist or cannot be reached.";
    return new GatewayError(502, message, { code: "page_unreachable", param: "url" });
  }
  if (name === "ERR_TIMED_OUT" || name === "ERR_CONNECTION_TIMED_OUT") return pageTimeout();
  return unreachable("page_unreachable", "The page cannot be loaded.");
}

const BROWSER_GONE_MESSAGE =
  /Target closed|Session closed|Connection closed|TargetCloseError|detached|disconnected|Protocol error(?:(?!Protocol error).)*closed|WebSocket|No target with given id|Session with given id not found|browser has been closed/i;

/** The browser runs, but does not respond to commands. */
export class BrowserStalled extends Error {
  override readonly name = "BrowserStalled";

  constructor() {
    super("the browser does not answer");
  }
}

/** Whether an error means that the browser went away, so that a retry with another one is worthwhile. */
export function isBrowserGone(error: unknown): boolean {
  if (error instanceof BrowserStalled) return true;
  return (
    !(error instanceof GatewayError) &&
    error instanceof Error &&
    BROWSER_GONE_MESSAGE.test(`${error.name} ${error.message}`)
  );
}

/** The error for the caller. It shows nothing of an unexpected error, which is logged. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isBrowserGone(error)) return browserUnavailable(error);
  console.warn(
    `page service: ${error instanceof Error ? `${error.name}: ${error.message}` : "unknown error"}`,
  );
  return new GatewayError(502, "The page could not be processed.", {
    code: "page_unreachable",
    cause: error,
  });
}
