import { toUtf8 } from "../../encoding/bytes.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { clientKey } from "../../http/client-key.ts";
import type { Context } from "../../platform/context.ts";
import type { PageReport } from "../../platform/page-browser.ts";
import type { PageBrowser, PagesPlatform } from "../../platform/pages.ts";
import { json, open } from "../../routing/endpoint.ts";
import { answerResponse, cacheKey, findAnswer, type KeptAnswer, keepAnswer } from "../kept-answers.ts";
import { lifetimeOf, pageHeaders } from "../page-headers.ts";
import { QueryParameters } from "../parameters.ts";
import { technologiesQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { DEFAULT_MAX_AGE, LONGEST_MAX_AGE } from "../thumbnails/parameters.ts";
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
import { technologiesSchema } from "./result.ts";

/** A page as one load of it shows it. */
interface SeenPage {
  readonly report: PageReport;
  readonly signals: PageSignals;
}

/** `GET /v1/technologies/`: what a page is built with (contract, GET /v1/technologies/). */
export const technologies = open({
  method: "GET",
  path: "/v1/technologies",
  summary: "Technologies that a web page is built with",
  lenientQuery: technologiesQuerySchema,
  answers: json(technologiesSchema),
  handler: rateLimited(async (context, admitted) => {
    const query = new QueryParameters(context.url.searchParams);
    const page = query.page(context.platform.variables.pages);
    const prettify = query.boolean("prettify", false);
    const maxAge = query.integer("maxAge", 0, LONGEST_MAX_AGE) ?? DEFAULT_MAX_AGE;
    query.refuseOthers();
    const key = await cacheKey(context, "technologies", page.href);
    const [found] = await Promise.all([findAnswer(context, key, maxAge), admitted]);
    const answer = found ?? (await detect(context, page));
    if (found === null) keepAnswer(context, key, answer);
    return answerResponse(context, prettify ? pretty(answer) : answer, maxAge);
  }),
});

async function detect(context: Context, page: URL): Promise<KeptAnswer> {
  const { platform } = context;
  const [detector, dns] = await Promise.all([detectorOf(platform.pages), lookUpDns(platform, page)]);
  const { report, signals } = await see(context, page, detector);
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
async function see(context: Context, page: URL, detector: TechnologyDetector): Promise<SeenPage> {
  const { browser } = context.platform.pages;
  if (browser !== null) {
    try {
      return await visitPage(browser, page, detector, clientKey(context.clientAddress));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "browser_unavailable") throw error;
    }
  }
  return fetchPage(context.platform, page, detector);
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

function pretty(answer: KeptAnswer): KeptAnswer {
  const result: unknown = JSON.parse(new TextDecoder().decode(answer.body));
  return { ...answer, body: toUtf8(`${JSON.stringify(result, null, 2)}\n`) };
}

const detectors = new WeakMap<PagesPlatform, () => Promise<TechnologyDetector>>();

function detectorOf(pages: PagesPlatform): Promise<TechnologyDetector> {
  const detector = detectors.get(pages) ?? technologyDetector(() => pages.fingerprints());
  detectors.set(pages, detector);
  return detector();
}
