import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { PageReport } from "../../core/ports/page-browser.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { isPublicRequestUrl } from "../../core/url-safety/index.ts";
import { forbiddenPage, notRenderable, pageTimeout } from "../browser/failures.ts";
import { decodePage } from "./decode-page.ts";
import { type PageSignals, signalsFromHtml, type TechnologyDetector } from "./index.ts";

const MAX_REDIRECTS = 10;
/** Maximum number of documents that a page may lead to by itself; each is read completely. */
const MAX_DOCUMENTS = 5;
const MAX_HTML_BYTES = 4_000_000;
const MAX_SHEET_BYTES = 500_000;
const MAX_SHEETS = 5;
const FIRST_BUFFER = 65_536;
const EXTRA_FILE_MS = 3_000;
const HEADERS = {
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "user-agent": "Mozilla/5.0 (compatible; Polygate)",
};

/**
 * Loads a page without a browser: its HTML, and with a detector also its style sheets and robots.txt. Checks each
 * redirect like the first address.
 *
 * @throws GatewayError if there is no page
 */
export async function fetchPage(
  platform: Pick<Platform, "variables" | "fetch">,
  page: URL,
  detector: TechnologyDetector | null,
): Promise<{ report: PageReport; signals: PageSignals }> {
  const limits = platform.variables.pages;
  const load = async (address: string, signal: AbortSignal): Promise<Response> => {
    if (!isPublicRequestUrl(address, limits)) throw forbiddenPage();
    return platform.fetch(address, { headers: HEADERS, redirect: "manual", signal });
  };
  // One deadline for all redirects and the whole page, so that a server that sends slowly cannot extend it.
  const deadline = AbortSignal.timeout(limits.navigationMs);
  const read = async ({ url, response }: PageResponse) => {
    await assertIsPage(response);
    const html = await readText(response, MAX_HTML_BYTES).catch(throwLoadError);
    return signalsFromHtml({ html, headers: response.headers, url }, detector ?? undefined);
  };
  let fetched = await followRedirects(page.href, (address) => load(address, deadline));
  let signals = await read(fetched);
  for (let documents = 1; ; documents++) {
    const next = findRefreshTarget(signals.refresh ?? fetched.response.headers.get("refresh"), fetched.url);
    if (next === null) break;
    if (documents >= MAX_DOCUMENTS) throw redirectLoop();
    fetched = await followRedirects(next, (address) => load(address, deadline));
    signals = await read(fetched);
  }
  const { url, response } = fetched;
  const report = { url, status: response.status, incomplete: null, overBudget: false };
  if (detector === null) return { report, signals };
  const extra = async (address: string): Promise<string> => {
    try {
      const answer = await load(address, AbortSignal.timeout(EXTRA_FILE_MS));
      return answer.ok ? await readText(answer, MAX_SHEET_BYTES) : "";
    } catch {
      return "";
    }
  };
  const [robots, ...sheets] = await Promise.all([
    extra(new URL("/robots.txt", url).href),
    ...signals.stylesheets.slice(0, MAX_SHEETS).map(extra),
  ]);
  return {
    report,
    signals: { ...signals, robots: robots ?? "", css: [...(signals.css ?? []), ...sheets.filter(Boolean)] },
  };
}

/** Throws for a response that a browser would not show as a page. */
async function assertIsPage({ status, headers, body }: Response): Promise<void> {
  const type = headers.get("content-type") ?? "text/html";
  const isAttachment = /^\s*attachment\b/i.test(headers.get("content-disposition") ?? "");
  if (status !== 204 && status !== 205 && !isAttachment && /html|xml|text\/plain/i.test(type)) return;
  await body?.cancel();
  throw notRenderable(status === 204 || status === 205 ? "an empty answer" : "a download");
}

/** A response that is no redirect, with its URL. */
interface PageResponse {
  readonly url: string;
  readonly response: Response;
}

async function followRedirects(
  start: string,
  load: (address: string) => Promise<Response>,
): Promise<PageResponse> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await load(url).catch(throwLoadError);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return { url, response };
    await response.body?.cancel();
    if (!URL.canParse(location, url)) return { url, response };
    url = new URL(location, url).href;
    // The runtimes would fetch `data:` addresses, too.
    if (!/^https?:/.test(url)) throw forbiddenPage();
  }
  throw redirectLoop();
}

function redirectLoop(): GatewayError {
  return new GatewayError(502, "The page redirects without end.", {
    code: "page_redirect_loop",
    param: "url",
  });
}

/** The target of a refresh within one second (WHATWG HTML, "shared declarative refresh steps"); null if there is none. */
function findRefreshTarget(refresh: string | null, url: string): string | null {
  const [, address = ""] =
    /^\s*[01]?(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/i
      .exec(refresh ?? "")
      ?.filter((part) => part !== undefined) ?? [];
  const target = address.trim();
  if (target === "" || !URL.canParse(target, url)) return null;
  const { protocol, href } = new URL(target, url);
  // Browsers do not follow a refresh to a non-http address.
  return /^https?:$/.test(protocol) ? href : null;
}

/** Throws the error for a page that does not load, or breaks off. */
function throwLoadError(error: unknown): never {
  if (error instanceof GatewayError) throw error;
  if (error instanceof Error && error.name === "TimeoutError") throw pageTimeout();
  throw new GatewayError(502, "The page cannot be loaded.", {
    code: "page_unreachable",
    param: "url",
    cause: error,
  });
}

/** The beginning of a body as text. */
async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  // Use one growing buffer, because a server may send its page byte by byte.
  let bytes = new Uint8Array(Math.min(maxBytes, FIRST_BUFFER));
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = value.subarray(0, maxBytes - length);
    const needed = length + chunk.byteLength;
    if (needed > bytes.byteLength) {
      const grown = new Uint8Array(Math.min(maxBytes, 2 * needed));
      grown.set(bytes.subarray(0, length));
      bytes = grown;
    }
    bytes.set(chunk, length);
    length = needed;
    if (length < maxBytes) continue;
    await reader.cancel();
    break;
  }
  return decodePage(bytes.subarray(0, length), response.headers.get("content-type") ?? "");
}
