import { canonicalHost, hostAndPort, isListedPrivateHost, privateHostReason } from "./hosts.ts";
import { effectivePort, isBadPort } from "./ports.ts";

/** Why a page URL is rejected. Each code leads to status 400 before any navigation. */
export type PageUrlRefusalCode =
  | "url_required"
  | "url_too_long"
  | "url_invalid"
  | "url_scheme_unsupported"
  | "url_credentials_forbidden"
  | "url_port_forbidden"
  | "url_host_forbidden";

/** The result of checking a page URL: the parsed URL with its scheme completed, or an error for the caller. */
export type PageUrlCheck =
  | { readonly ok: true; readonly url: URL }
  | {
      readonly ok: false;
      readonly code: PageUrlRefusalCode;
      readonly message: string;
      /** The `host:port` that a list of private hosts would have to name. Only of `url_host_forbidden`. */
      readonly privateHost?: string;
    };

/** Settings of the URL rules. */
export type UrlSafetyOptions = {
  /** `host:port` pairs on this machine or its network that may be loaded nevertheless; see `parsePrivateHosts`. */
  readonly privateHosts: ReadonlySet<string>;
};

/** Longest page URL in characters: more than any address bar or server accepts. */
export const MAX_URL_LENGTH = 8192;

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\//i;
const OTHER_SCHEME =
  /^(?:javascript|vbscript|data|file|filesystem|view-source|about|blob|ftps?|sftp|wss?|mailto|tel|chrome|chrome-extension|devtools|edge|intent|jar|urn|ssh|gopher|ldaps?|dict|tftp|ms-[a-z-]+):/i;

/**
 * Decides whether an untrusted caller may load a page, and completes a missing scheme with `http://`.
 *
 * The decision uses the parsed URL, never the text. So different spellings of an address (decimal, octal, full-width,
 * percent-encoded and so on) are treated as the address that they mean.
 *
 * @param input the URL as the caller wrote it; the scheme is optional (docs/page-contract.md, Endpoints)
 */
export function checkPageUrl(input: string, options: UrlSafetyOptions): PageUrlCheck {
  const text = trimUrl(input);
  if (text === "") return createRefusal("url_required", "The parameter url is required.");
  if (text.length > MAX_URL_LENGTH) {
    return createRefusal("url_too_long", `The parameter url may have at most ${MAX_URL_LENGTH} characters.`);
  }
  if (!ABSOLUTE.test(text) && OTHER_SCHEME.test(text)) return createSchemeRefusal();
  const complete = completeScheme(text);
  if (!/^https?:\/\//i.test(complete)) return createSchemeRefusal();
  if (!URL.canParse(complete)) return createRefusal("url_invalid", "The parameter url is not a valid URL.");

  const url = new URL(complete);
  if (url.username !== "" || url.password !== "") {
    return createRefusal(
      "url_credentials_forbidden",
      "The parameter url must not contain a user name or password.",
    );
  }
  if (isListedPrivateHost(url, options.privateHosts)) return { ok: true, url };
  const reason = privateHostReason(canonicalHost(url));
  if (reason !== undefined) {
    const message = `The host of the parameter url is not allowed: ${reason}.`;
    return { ok: false, code: "url_host_forbidden", message, privateHost: hostAndPort(url) };
  }
  if (isBadPort(effectivePort(url))) {
    return createRefusal("url_port_forbidden", "The port of the parameter url is one that browsers refuse.");
  }
  return { ok: true, url };
}

/**
 * Decides whether a page that is being loaded may make a request: a redirect, a frame, an image, a script and so on.
 *
 * @param url the absolute URL of the request, as the browser reports it
 * @returns true for documents made by the page itself (`data:`, `blob:`, `about:blank`, `about:srcdoc`), and for http,
 *   https, ws and wss to a host that may be on the public internet, on a port that browsers open
 */
export function isPublicRequestUrl(url: string, options: UrlSafetyOptions): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  switch (parsed.protocol) {
    case "data:":
    case "blob:":
      return true;
    case "about:":
      return parsed.pathname === "blank" || parsed.pathname === "srcdoc";
    case "http:":
    case "https:":
    case "ws:":
    case "wss:":
      if (isListedPrivateHost(parsed, options.privateHosts)) return true;
      return privateHostReason(canonicalHost(parsed)) === undefined && !isBadPort(effectivePort(parsed));
    default:
      return false;
  }
}

/**
 * Removes characters that the URL parser ignores, so that they cannot hide a scheme: control characters at both ends, tabs
 * and line ends within.
 */
function trimUrl(input: string): string {
  let start = 0;
  let end = input.length;
  while (start < end && input.charCodeAt(start) <= 0x20) start++;
  while (end > start && input.charCodeAt(end - 1) <= 0x20) end--;
  return input.slice(start, end).replace(/[\t\n\r]/g, "");
}

function completeScheme(text: string): string {
  if (ABSOLUTE.test(text)) return text;
  return text.startsWith("//") ? `http:${text}` : `http://${text}`;
}

function createSchemeRefusal(): PageUrlCheck {
  return createRefusal("url_scheme_unsupported", "The parameter url must be an http or https URL.");
}

function createRefusal(code: PageUrlRefusalCode, message: string): PageUrlCheck {
  return { ok: false, code, message };
}
