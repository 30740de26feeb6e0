import { toUtf8 } from "../../encoding/bytes.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { PageReport } from "../../platform/page-browser.ts";
import type { PageBrowser, PagesPlatform } from "../../platform/pages.ts";
import type { Platform } from "../../platform/platform.ts";
import type { KeptAnswer, PageWork } from "../kept-answers.ts";
import { lifetimeOf, pageHeaders } from "../page-headers.ts";
import { lookUpDns } from "./dns.ts";
import { fetchPage } from "./fetch-page.ts";
import {
  type PageSignals,
  probeExpression,
  readProbe,
  signalsFromHtml,
  type TechnologiesResult,
  type TechnologyDetector,
  technologyDetector,
  toTechnologiesResult,
} from "./index.ts";

/** A page as one load of it shows it. */
interface SeenPage {
  readonly report: PageReport;
  readonly signals: PageSignals;
}

/** Loads a page, and says what it is built with. Throws what the caller is told. */
export async function detect({ platform, client }: PageWork, page: URL): Promise<KeptAnswer> {
  const [detector, dns] = await Promise.all([detectorOf(platform.pages), lookUpDns(platform, page)]);
  const { report, signals } = await see(platform, page, detector, client);
  const result: TechnologiesResult = toTechnologiesResult({
    finalUrl: report.url,
    requestedUrl: page.href,
    technologies: detector.detect({ ...signals, dns }),
  });
  return {
    body: toUtf8(JSON.stringify(result)),
    headers: { "content-type": "application/json", ...pageHeaders(report) },
    madeAt: platform.now(),
    lifetime: lifetimeOf(report),
    hit: false,
  };
}

/** Loads the page in a browser, or without one when there is none. */
async function see(
  platform: Platform,
  page: URL,
  detector: TechnologyDetector,
  client: string,
): Promise<SeenPage> {
  const { browser } = platform.pages;
  if (browser !== null) {
    try {
      return await visitPage(browser, page, detector, client);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "browser_unavailable") throw error;
    }
  }
  return fetchPage(platform, page, detector);
}

async function visitPage(
  browser: PageBrowser,
  page: URL,
  detector: TechnologyDetector,
  client: string,
): Promise<SeenPage> {
  const argument = detector.probeArgument;
  const asked = {
    url: page.href,
    globalsProbe: probeExpression(argument, "globals"),
    selectorsProbe: probeExpression(argument, "selectors"),
  };
  const { html, signals, probes, ...report } = await browser.visit(asked, client);
  const found = probes.map(readProbe);
  const read = signalsFromHtml({ html, headers: new Headers(), url: report.url });
  return {
    report,
    signals: {
      ...read,
      ...signals,
      scriptSrc: [...new Set([...(read.scriptSrc ?? []), ...(signals.scriptSrc ?? [])])],
      css: [...(read.css ?? []), ...(signals.css ?? [])],
      js: found.flatMap(({ js }) => js),
      dom: found.flatMap(({ dom }) => dom),
    },
  };
}

const detectors = new WeakMap<PagesPlatform, () => Promise<TechnologyDetector>>();

function detectorOf(pages: PagesPlatform): Promise<TechnologyDetector> {
  const detector = detectors.get(pages) ?? technologyDetector(() => pages.fingerprints());
  detectors.set(pages, detector);
  return detector();
}
