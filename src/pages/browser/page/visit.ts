import type { Protocol } from "devtools-protocol";
import type { NamedTexts, VisitOutcome, VisitRequest } from "../../../core/ports/page-browser.ts";
import { MAX_HTML } from "../html-limit.ts";
import type { Stopwatch } from "../stopwatch.ts";
import { type CaptureTools, DESKTOP_VISITOR, emulateVisitor } from "../tab/emulation.ts";
import { evaluateInPage, evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";
import { AppliedSetup } from "./applied-setup.ts";
import { readElements } from "./element-reader.ts";
import { MomentWaiter } from "./moment.ts";
import { runOnPage } from "./page-load.ts";

const PROBE_MS = 3_000;
const READ_MS = 3_000;
/**
 * Maximum number of scripts and style sheets to read, and the maximum size of each and in total, in UTF-16 code units.
 */
const MAX_SOURCES = 60;
const MAX_SOURCE = 500_000;
const MAX_SOURCES_TOTAL = 3_000_000;

/** The markup of the document, with its doctype and the comments outside its root element. */
const SERIALIZE = `[...document.childNodes].map((node) =>
  node.nodeType === Node.ELEMENT_NODE ? node.outerHTML : new XMLSerializer().serializeToString(node),
).join("\\n")`;

/** The page itself sends this request, so that it passes the guard like all others. */
const ROBOTS = `fetch("/robots.txt", { signal: AbortSignal.timeout(2000) })
  .then((response) => (response.ok && /text\\/plain/.test(response.headers.get("content-type") ?? "") ? response.text() : ""))
  .catch(() => "")`;

/** A loaded script or style sheet. */
interface Source {
  readonly requestId: string;
  readonly kind: "Script" | "Stylesheet";
}

/** Loads a page once and collects all signals of its technologies. Throws GatewayError if there is no page. */
export async function visit(
  tab: Tab,
  request: VisitRequest,
  { limits, userAgent }: Pick<CaptureTools, "limits" | "userAgent">,
  watch: Stopwatch,
): Promise<VisitOutcome> {
  const { session } = tab;
  await emulateVisitor(tab, DESKTOP_VISITOR, userAgent);
  const setup = new AppliedSetup(tab, request.setup);
  await setup.prepareLoad(request.url);
  let loaded = new LoadedResources();
  session.on("Page.frameNavigated", ({ frame }) => {
    // The resources of an earlier document are not signals of this one.
    if (frame.id === tab.policy.mainFrame) loaded = new LoadedResources();
  });
  session.on("Network.responseReceived", (event) => loaded.add(event));
  const loading = {
    waitUntil: request.moment.waitUntil,
    timeoutMs: limits.navigationMs + request.moment.delay * 1_000,
    commitMs: limits.responseStartMs,
    isDrawn: false,
  };
  const moment = new MomentWaiter(tab, request.moment, limits);
  const { report, result } = await runOnPage<DocumentContent>(
    tab,
    request.url,
    loading,
    async (signal, response) => {
      watch.lap("load");
      await setup.changeDocument(signal);
      const { waitForSelector, waitForText } = request.moment;
      if (waitForSelector === null && waitForText === null) moment.startDelay();
      await moment.waitForContent(signal);
      await moment.settle(signal);
      await moment.waitForDelay(signal);
      await setup.assertSucceeded();
      watch.lap("prepare");
      return readDocument(tab, request, loaded, response).finally(() => watch.lap("read"));
    },
  );
  return { ...report, ...result };
}

type DocumentContent = Pick<VisitOutcome, "html" | "probes" | "signals" | "matches">;

/** The resources that a document has loaded. */
class LoadedResources {
  readonly scriptSrc = new Set<string>();
  readonly xhrHosts = new Set<string>();
  readonly sources: Source[] = [];

  add({ requestId, type, response }: Protocol.Network.ResponseReceivedEvent): void {
    if (type === "Script") this.scriptSrc.add(response.url);
    if ((type === "XHR" || type === "Fetch") && URL.canParse(response.url)) {
      this.xhrHosts.add(new URL(response.url).hostname);
    }
    if ((type === "Script" || type === "Stylesheet") && this.sources.length < MAX_SOURCES) {
      this.sources.push({ requestId, kind: type });
    }
  }
}

async function readDocument(
  tab: Tab,
  request: VisitRequest,
  { scriptSrc, xhrHosts, sources }: LoadedResources,
  response: string | null,
): Promise<DocumentContent> {
  const { session, frame } = tab;
  const { probes, elements = [] } = request;
  const [globals, selectors, html, robots, cookies, texts, matches] = await Promise.all([
    probes === null ? null : evaluateInPage(session, probes.globals, PROBE_MS),
    probes === null ? null : evaluateIsolated(tab, probes.selectors, PROBE_MS),
    evaluateIsolated(tab, SERIALIZE, READ_MS),
    probes === null ? null : evaluateIsolated(tab, ROBOTS, READ_MS),
    session
      .send("Network.getCookies")
      .then((answer) => answer.cookies)
      .catch(() => []),
    readSources(tab, probes === null ? [] : sources),
    readElements(tab, elements, READ_MS),
  ]);
  const issuer = frame.response?.issuer;
  return {
    html: (response ?? textOrEmpty(html, MAX_HTML)).slice(0, MAX_HTML),
    probes: [globals, selectors],
    matches,
    signals: {
      headers: namedTexts(frame.response?.headers ?? {}),
      cookies: cookieTexts(cookies),
      scriptSrc: [...scriptSrc],
      externalScripts: texts.Script,
      css: texts.Stylesheet,
      xhrHosts: [...xhrHosts],
      robots: textOrEmpty(robots, MAX_SOURCE),
      ...(issuer !== undefined && { certIssuer: issuer }),
    },
  };
}

function textOrEmpty(value: unknown, maxLength: number): string {
  return typeof value === "string" ? value.slice(0, maxLength) : "";
}

async function readSources(
  { session }: Tab,
  sources: readonly Source[],
): Promise<Record<Source["kind"], string[]>> {
  const texts: Record<Source["kind"], string[]> = { Script: [], Stylesheet: [] };
  let remaining = MAX_SOURCES_TOTAL;
  const read = await Promise.all(
    sources.map(async ({ requestId, kind }) => {
      const answer = await session.send("Network.getResponseBody", { requestId }).catch(() => null);
      return { kind, text: answer === null || answer.base64Encoded ? "" : answer.body.slice(0, MAX_SOURCE) };
    }),
  );
  for (const { kind, text } of read) {
    if (text === "" || remaining <= 0) continue;
    texts[kind].push(text.slice(0, remaining));
    remaining -= text.length;
  }
  return texts;
}

/** Response headers as signals; the browser joins several values of one name by line feeds. */
function namedTexts(headers: Readonly<Record<string, string>>): NamedTexts {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.split("\n")]));
}

function cookieTexts(cookies: readonly Protocol.Network.Cookie[]): NamedTexts {
  return Object.fromEntries(cookies.map(({ name, value }) => [name, [value]]));
}
