import { GatewayError } from "../../core/errors/gateway-error.ts";
import type {
  LoadMoment,
  NamedTexts,
  PageReport,
  VisitOutcome,
  VisitRequest,
} from "../../core/ports/page-browser.ts";
import type { PageSetup } from "../../core/ports/page-setup.ts";
import { browserUnavailable } from "../browser/failures.ts";
import type { PageWork } from "../operations/page-work.ts";
import { lookUpDns } from "./dns.ts";
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
  /** For each of `elements`, the elements that match. */
  readonly matches: VisitOutcome["matches"];
}

/** A page to load, and when to read it. */
export interface PageToLoad {
  readonly page: URL;
  /** Without a browser it has no effect. */
  readonly moment: LoadMoment;
  readonly setup: PageSetup;
  /** Selectors of elements to read. */
  readonly elements?: readonly string[];
}

/** The DNS records of a page's domain; none for a document that the caller sent. */
export async function findDnsRecords(
  { platform }: Pick<PageWork, "platform">,
  { page, setup }: PageToLoad,
): Promise<NamedTexts> {
  return setup.html === null ? lookUpDns(platform, page) : {};
}

/**
 * Loads a page in a browser, or without one if none is available.
 *
 * @param detector determines the signals to collect; null: markup and headers are enough
 * @throws GatewayError if there is no page
 */
export async function loadPage(
  { platform, client, signal }: Pick<PageWork, "platform" | "client" | "signal">,
  target: PageToLoad,
  detector: TechnologyDetector | null,
): Promise<LoadedPage> {
  const { browser } = platform.pages;
  if (browser !== null) {
    try {
      const visit = createVisitRequest(target, detector);
      return toLoadedPage(await browser.visit(visit, client, signal));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "browser_unavailable") throw error;
    }
  }
  // A fetch would leave out what the caller asked for.
  if (needsBrowser(target)) throw browserUnavailable();
  return { ...(await fetchPage(platform, target.page, detector)), matches: [] };
}

/** Whether a request asks for more than a fetch without a browser can do. */
function needsBrowser({ setup, elements = [] }: PageToLoad): boolean {
  const { html, secrets, styles, scripts, failOn } = setup;
  const { statuses, resources, consoleErrors } = failOn;
  const hasList = [styles, scripts, statuses, elements].some(({ length }) => length > 0);
  return hasList || html !== null || secrets !== null || resources || consoleErrors;
}

function toLoadedPage({ html, signals, probes, matches, ...report }: VisitOutcome): LoadedPage {
  const found = probes.map(parseProbeResult);
  const read = signalsFromHtml({ html, headers: new Headers(), url: report.url });
  return {
    report,
    matches,
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

function createVisitRequest(
  { page: { href: url }, moment, setup, elements = [] }: PageToLoad,
  detector: TechnologyDetector | null,
): VisitRequest {
  if (detector === null) return { url, moment, setup, elements, probes: null };
  const argument = detector.probeArgument;
  return {
    url,
    moment,
    setup,
    elements,
    probes: {
      globals: createProbeExpression(argument, "globals"),
      selectors: createProbeExpression(argument, "selectors"),
    },
  };
}
