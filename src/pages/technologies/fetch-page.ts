import { GatewayError } from "../../errors/gateway-error.ts";
import type { PageReport } from "../../platform/page-browser.ts";
import type { Platform } from "../../platform/platform.ts";
import { isPublicRequestUrl } from "../../url-safety/index.ts";
import { forbiddenPage, notRenderable, pageTimeout } from "../browser/failures.ts";
import { type PageSignals, signalsFromHtml, type TechnologyDetector } from "./index.ts";

const MAX_REDIRECTS = 10;
const MAX_HTML_BYTES = 4_000_000;
const MAX_SHEET_BYTES = 500_000;
const MAX_SHEETS = 5;
const EXTRAS_MS = 3_000;
const HEADERS = {
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  "user-agent": "Mozilla/5.0 (compatible; Polygate)",
};

/**
 * Loads a page without a browser: its HTML, and with a detector its style sheets and robots.txt. Each hop of a redirect is checked as the first address was.
 *
 * @throws GatewayError when there is no page
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
  // For all hops and the whole of the page: a server that sends a byte at a time is no faster than one that is silent.
  const deadline = AbortSignal.timeout(limits.navigationMs);
  const { url, response } = await follow(page.href, (address) => load(address, deadline));
  const type = response.headers.get("content-type") ?? "text/html";
  if (!/html|xml|text\/plain/i.test(type)) throw notRenderable("a download");
  const html = await readText(response, MAX_HTML_BYTES).catch(refuse);
  const report = { url, status: response.status, incomplete: false, overBudget: false };
  const signals = signalsFromHtml({ html, headers: response.headers, url }, detector ?? undefined);
  if (detector === null) return { report, signals };
  const extra = async (address: string): Promise<string> => {
    try {
      const answer = await load(address, AbortSignal.timeout(EXTRAS_MS));
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

async function follow(
  start: string,
  load: (address: string) => Promise<Response>,
): Promise<{ url: string; response: Response }> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await load(url).catch(refuse);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return { url, response };
    await response.body?.cancel();
    if (!URL.canParse(location, url)) return { url, response };
    url = new URL(location, url).href;
  }
  throw new GatewayError(502, "The page redirects without end.", {
    code: "page_redirect_loop",
    param: "url",
  });
}

/** Throws what the caller is told of a page that does not come, or breaks off. */
function refuse(error: unknown): never {
  if (error instanceof GatewayError) throw error;
  if (error instanceof Error && error.name === "TimeoutError") throw pageTimeout();
  throw new GatewayError(502, "The page cannot be loaded.", {
    code: "page_unreachable",
    param: "url",
    cause: error,
  });
}

/** The beginning of a body as text. */
async function readText(response: Response, most: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const charset = /charset=["']?([\w-]+)/i.exec(response.headers.get("content-type") ?? "")?.[1];
  const decoder = decoderFor(charset);
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    text += decoder.decode(value, { stream: true });
    if (length >= most) {
      await reader.cancel();
      return text;
    }
  }
}

function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? "utf-8");
  } catch {
    return new TextDecoder();
  }
}
