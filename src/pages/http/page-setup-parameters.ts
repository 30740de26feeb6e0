import * as z from "zod";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import {
  type FailureRules,
  type NamedText,
  type PageSecrets,
  type PageSetup,
  RESOURCE_TYPES,
  SENT_PAGE_URL,
} from "../../core/ports/page-setup.ts";
import type { CallerAccess } from "../limits/page-caller.ts";
import type { PageAddressOptions } from "./page-address.ts";
import { flag, type Parameter, readParameters, text, textList } from "./parameter-table.ts";
import type { QueryParameters } from "./query-parameters.ts";

/** What a request may load, and the document that it brings. */
export interface PageSource extends PageAddressOptions {
  /** Default `public`. */
  readonly access?: CallerAccess;
  /** The document that the caller sent, as HTML. */
  readonly html?: string;
}

/** Maximum number and characters of `headers`, `cookies`, `styles` and `scripts`, each. */
const MAX_SECRETS = 30;
const MAX_SECRET = 4_096;
const MAX_SOURCES = 10;
const MAX_SOURCE = 100_000;
/** Maximum number of `failOnStatus`. */
const MAX_STATUSES = 20;

const STATUS = /^[1-5](?:\d\d|xx)$/;
/** A name of a header or cookie (RFC 9110, token). */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** A value of a header: printable ASCII; of a cookie: besides no semicolon. */
const HEADER_VALUE = /^[ -~]*$/;
const COOKIE_VALUE = /^[ -:<-~]*$/;

/** Headers that the browser or the connection sets, and those that have a parameter of their own. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...["accept-encoding", "connection", "content-length", "content-type", "cookie", "date", "expect", "host"],
  ...[
    "keep-alive",
    "origin",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
  ],
]);
const RESERVED_PREFIX = /^(?:access-control-|proxy-|sec-|:)/;

const secretList = (description: string) => textList(MAX_SECRETS, MAX_SECRET, description);
const sourceList = (description: string): Parameter<readonly string[]> => ({
  read: (query, name) => query.sourceList(name, MAX_SOURCES, MAX_SOURCE),
  schema: () => z.array(z.string().max(MAX_SOURCE)).max(MAX_SOURCES).describe(description),
});
const blockResources: Parameter<PageSetup["blockedTypes"]> = {
  // Sorted, because the order has no effect: so equal requests share a cache entry.
  read: (query, name) => query.choiceList(name, RESOURCE_TYPES),
  schema: () => z.array(z.enum(RESOURCE_TYPES)).describe("Types of resources not to load."),
};
const failOnStatus: Parameter<FailureRules["statuses"]> = {
  read: (query, name) => query.textList(name, MAX_STATUSES, 3).map(parseStatus),
  schema: () =>
    z
      .array(z.string().regex(STATUS))
      .max(MAX_STATUSES)
      .describe("HTTP statuses of the page that fail the call, such as 404 or 5xx."),
};

/** The parameters of a page setup. */
export const SETUP_PARAMETERS = {
  headers: secretList(
    "<name>: <value>, a request header for the page's own origin and no other. Needs an API key.",
  ),
  cookies: secretList("<name>=<value>, a cookie for the page's own origin and no other. Needs an API key."),
  authorization: text(
    MAX_SECRET,
    "The header Authorization for the page's own origin, such as Basic dXNlcjpwYXNz. Needs an API key.",
  ),
  styles: sourceList("CSS to add to the page. Needs an API key."),
  scripts: sourceList("JavaScript to run once the page has loaded; it may await. Needs an API key."),
  blockResources,
  failOnStatus,
  failOnResourceLoadingFailed: flag("The call fails when a resource of the page cannot be loaded."),
  failOnConsoleErrors: flag(
    "The call fails when the page throws an exception or writes an error to its console.",
  ),
};

/**
 * The page's address: the parameter `url`, or a reserved one if the caller sent the document.
 *
 * @throws GatewayError 400 for an address that may not be loaded, or for one besides a document
 */
export function readPageUrl(query: QueryParameters, source: PageSource): URL {
  if (source.html === undefined) return query.pageUrl(source);
  if (query.text("url") !== null)
    throw invalidRequest("The parameter url does not go together with a document.", "url");
  return new URL(SENT_PAGE_URL);
}

/** Reads what the caller changes about a page. Throws a 400 or 403 that names the invalid parameter. */
export function readSetup(query: QueryParameters, { access = "public", html }: PageSource): PageSetup {
  const values = readParameters(query, SETUP_PARAMETERS);
  const secrets = parseSecrets(values);
  const { styles, scripts } = values;
  if (access === "public") rejectWithoutKey({ styles, scripts });
  if (access !== "key") rejectWithoutKey(secrets);
  const { headers, cookies, authorization } = secrets;
  const hasSecrets = headers.length + cookies.length + authorization.length > 0;
  if (hasSecrets && html !== undefined)
    throw invalidRequest("A document that is sent has no origin for headers, cookies or authorization.");
  return {
    html: html ?? null,
    secrets: hasSecrets ? { headers: [...headers, ...authorization], cookies } : null,
    styles,
    scripts,
    blockedTypes: values.blockResources,
    failOn: {
      statuses: values.failOnStatus,
      resources: values.failOnResourceLoadingFailed,
      consoleErrors: values.failOnConsoleErrors,
    },
  };
}

/** Throws a 400 if a request has secrets: what a job needs is stored. */
export function rejectSecrets({ secrets }: PageSetup): void {
  if (secrets === null) return;
  throw invalidRequest("A job keeps no headers, cookies or authorization. Call the operation directly.");
}

interface SecretParameters extends PageSecrets {
  readonly authorization: readonly NamedText[];
}

function parseSecrets(values: {
  readonly headers: readonly string[];
  readonly cookies: readonly string[];
  readonly authorization: string | null;
}): SecretParameters {
  const { authorization } = values;
  const headers = values.headers.map(parseHeader);
  const names = new Set(headers.map(({ name }) => name));
  if (names.size < headers.length) throw invalidRequest("A header is given twice in headers.", "headers");
  if (authorization !== null && names.has("authorization"))
    throw invalidRequest("The header Authorization is given twice.", "authorization");
  if (authorization !== null && !HEADER_VALUE.test(authorization))
    throw invalidRequest("The parameter authorization must have printable ASCII alone.", "authorization");
  return {
    headers,
    cookies: values.cookies.map(parseCookie),
    authorization: authorization === null ? [] : [{ name: "authorization", value: authorization }],
  };
}

function parseHeader(text: string): NamedText {
  const [name, value] = splitAt(text, ":");
  const lowerName = name.toLowerCase();
  if (!TOKEN.test(name) || !HEADER_VALUE.test(value))
    throw invalidRequest("The parameter headers must be <name>: <value> in printable ASCII.", "headers");
  if (RESERVED_HEADERS.has(lowerName) || RESERVED_PREFIX.test(lowerName))
    throw invalidRequest(`The header ${lowerName.slice(0, 40)} cannot be set.`, "headers");
  return { name: lowerName, value };
}

function parseCookie(text: string): NamedText {
  const [name, value] = splitAt(text, "=");
  if (TOKEN.test(name) && COOKIE_VALUE.test(value)) return { name, value };
  throw invalidRequest("The parameter cookies must be <name>=<value>, without attributes.", "cookies");
}

function splitAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? ["", ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** Throws a 403 with the first parameter that is given. */
function rejectWithoutKey(parameters: object): void {
  for (const [param, values] of Object.entries(parameters)) {
    if (values.length === 0) continue;
    throw new GatewayError(403, `The parameter ${param} needs an API key.`, {
      code: "permission_denied",
      param,
    });
  }
}

function parseStatus(text: string): FailureRules["statuses"][number] {
  const status = text.toLowerCase();
  if (STATUS.test(status))
    return { from: Number(status.replace("xx", "00")), to: Number(status.replace("xx", "99")) };
  throw invalidRequest("The parameter failOnStatus must be a status such as 404 or 5xx.", "failOnStatus");
}
