import type { Protocol } from "devtools-protocol";
import type { PageLimits } from "../settings.ts";
import { type NamedTexts, type PageSignals, signalsFromHtml } from "../technologies/index.ts";
import { evaluate, isolatedWorld } from "./evaluate.ts";
import { navigate } from "./navigate.ts";
import type { VisitOutcome, VisitRequest } from "./protocol.ts";
import type { Tab } from "./tab.ts";

const PROBE_MS = 3_000;
const READ_MS = 3_000;
/** Scripts and style sheets that are read, and bytes of each and of all together. */
const MAX_SOURCES = 60;
const MAX_SOURCE = 500_000;
const MAX_SOURCES_TOTAL = 3_000_000;

/** A loaded script or style sheet. */
interface Source {
  readonly requestId: string;
  readonly kind: "Script" | "Stylesheet";
}

/** Loads a page once and collects everything that tells of its technologies. Throws GatewayError when there is no page. */
export async function visit(tab: Tab, request: VisitRequest, limits: PageLimits): Promise<VisitOutcome> {
  const { session } = tab;
  const scriptSrc = new Set<string>();
  const xhrHosts = new Set<string>();
  const sources: Source[] = [];
  session.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type === "Script") scriptSrc.add(response.url);
    if ((type === "XHR" || type === "Fetch") && URL.canParse(response.url)) {
      xhrHosts.add(new URL(response.url).hostname);
    }
    if ((type === "Script" || type === "Stylesheet") && sources.length < MAX_SOURCES) {
      sources.push({ requestId, kind: type });
    }
  });
  const report = await navigate(tab, request.url, "load", limits.navigationMs);
  const world = await isolatedWorld(session, tab.policy.mainFrame);
  const [globals, selectors, html, cookies, texts] = await Promise.all([
    evaluate(session, request.globalsProbe, PROBE_MS),
    evaluate(session, request.selectorsProbe, PROBE_MS, world),
    evaluate(session, "document.documentElement.outerHTML", READ_MS, world),
    session
      .send("Network.getCookies")
      .then(({ cookies }) => cookies)
      .catch(() => []),
    readSources(tab, sources),
  ]);
  const headers = responseHeaders(tab);
  const seen: PageSignals = {
    ...signalsFromHtml({
      html: typeof html === "string" ? html : "",
      headers: new Headers(),
      url: report.url,
    }),
    headers,
  };
  const issuer = tab.response?.securityDetails()?.issuer();
  return {
    ...report,
    probes: [globals, selectors],
    signals: {
      ...seen,
      cookies: cookieTexts(cookies),
      scriptSrc: [...new Set([...(seen.scriptSrc ?? []), ...scriptSrc])],
      externalScripts: texts.Script,
      css: [...(seen.css ?? []), ...texts.Stylesheet],
      xhrHosts: [...xhrHosts],
      ...(issuer !== undefined && { certIssuer: issuer }),
    },
  };
}

async function readSources(
  { session }: Tab,
  sources: readonly Source[],
): Promise<Record<Source["kind"], string[]>> {
  const texts: Record<Source["kind"], string[]> = { Script: [], Stylesheet: [] };
  let left = MAX_SOURCES_TOTAL;
  const read = await Promise.all(
    sources.map(async ({ requestId, kind }) => {
      const answer = await session.send("Network.getResponseBody", { requestId }).catch(() => null);
      return { kind, text: answer === null || answer.base64Encoded ? "" : answer.body.slice(0, MAX_SOURCE) };
    }),
  );
  for (const { kind, text } of read) {
    if (text === "" || left <= 0) continue;
    texts[kind].push(text.slice(0, left));
    left -= text.length;
  }
  return texts;
}

/** The response headers of the page; the browser joins several values of one name by line ends. */
function responseHeaders(tab: Tab): NamedTexts {
  const headers = tab.response?.headers() ?? {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.split("\n")]));
}

function cookieTexts(cookies: readonly Protocol.Network.Cookie[]): NamedTexts {
  return Object.fromEntries(cookies.map(({ name, value }) => [name, [value]]));
}
