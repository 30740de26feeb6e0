import { toUtf8 } from "../../encoding/bytes.ts";
import type { PagesPlatform } from "../../platform/pages.ts";
import type { MadeAnswer, PageWork } from "../kept-answers.ts";
import { lifetimeOf, pageHeaders } from "../page-headers.ts";
import { lookUpDns } from "./dns.ts";
import {
  type TechnologiesResult,
  type TechnologyDetector,
  technologyDetector,
  toTechnologiesResult,
} from "./index.ts";
import { seePage } from "./see-page.ts";

/** Loads a page and detects its technologies. Throws the error for the caller. */
export async function detect(work: PageWork, page: URL): Promise<MadeAnswer> {
  const { platform } = work;
  const [detector, dns] = await Promise.all([detectorOf(platform.pages), lookUpDns(platform, page)]);
  const { report, signals } = await seePage(work, page, detector);
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
  };
}

const detectors = new WeakMap<PagesPlatform, () => Promise<TechnologyDetector>>();

/** The detector of a runtime, created on first use. */
export function detectorOf(pages: PagesPlatform): Promise<TechnologyDetector> {
  const detector = detectors.get(pages) ?? technologyDetector(() => pages.fingerprints());
  detectors.set(pages, detector);
  return detector();
}
