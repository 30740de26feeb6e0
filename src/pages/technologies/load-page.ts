import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { PageReport, VisitRequest } from "../../core/ports/page-browser.ts";
import type { PageBrowser } from "../../core/ports/pages.ts";
import type { PageWork } from "../cache/answer-cache.ts";
import { fetchPage } from "./fetch-page.ts";
import {
  createProbeExpression,
  type PageSignals,
  parseProbeResult,
  signalsFromHtml,
  type TechnologyDetector,
} from "./index.ts";

/** The report and the signals of one page load. */
export interface LoadedPage {
  readonly report: PageReport;
  readonly signals: PageSignals;
}

/**
 * Loads a page in a browser, or without one if none is available.
 *
 * @param detector determines the signals to collect; null: markup and headers are enough
 * @throws GatewayError if there is no page
 */
export async function loadPage(
  { platform, client }: Pick<PageWork, "platform" | "client">,
  page: URL,
  detector: TechnologyDetector | null,
): Promise<LoadedPage> {
  const { browser } = platform.pages;
  if (browser !== null) {
    try {
      return await loadInBrowser(browser, page, detector, client);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "browser_unavailable") throw error;
    }
  }
  return fetchPage(platform, page, detector);
}

async function loadInBrowser(
  browser: PageBrowser,
  page: URL,
  detector: TechnologyDetector | null,
  client: string,
): Promise<LoadedPage> {
  const { html, signals, probes, ...report } = await browser.visit(
    createVisitRequest(page, detector),
    client,
  );
  const found = probes.map(parseProbeResult);
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

function createVisitRequest({ href }: URL, detector: TechnologyDetector | null): VisitRequest {
  if (detector === null) return { url: href, probes: null };
  const argument = detector.probeArgument;
  return {
    url: href,
    probes: {
      globals: createProbeExpression(argument, "globals"),
      selectors: createProbeExpression(argument, "selectors"),
    },
  };
}
