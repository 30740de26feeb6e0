import { toUtf8 } from "../../core/encoding/bytes.ts";
import { oncePer } from "../../core/encoding/once-per.ts";
import type { PagesPlatform } from "../../core/ports/pages.ts";
import type { NewAnswer, PageWork } from "../cache/answer-cache.ts";
import { cacheLifetime, pageHeaders } from "../cache/page-headers.ts";
import {
  createLazyDetector,
  type TechnologiesResult,
  type TechnologyDetector,
  toTechnologiesResult,
} from "./index.ts";
import { findDnsRecords, loadPage, type PageToLoad } from "./load-page.ts";

/** Loads a page and detects its technologies. Throws the error for the caller. */
export async function detectTechnologies(work: PageWork, target: PageToLoad): Promise<NewAnswer> {
  const { platform } = work;
  const { page } = target;
  const [detector, dns] = await Promise.all([getDetector(platform.pages), findDnsRecords(work, target)]);
  const { report, signals } = await loadPage(work, target, detector);
  const result: TechnologiesResult = toTechnologiesResult({
    finalUrl: report.url,
    requestedUrl: page.href,
    incomplete: report.incomplete,
    technologies: detector.detect({ ...signals, dns }),
  });
  return {
    body: toUtf8(JSON.stringify(result)),
    headers: { "content-type": "application/json", ...pageHeaders(report) },
    madeAt: platform.now(),
    lifetime: cacheLifetime(report),
  };
}

/** The detector of a runtime, created on first use. */
export function getDetector(pages: PagesPlatform): Promise<TechnologyDetector> {
  return getLoader(pages)();
}

const getLoader = oncePer((pages: PagesPlatform) => createLazyDetector(() => pages.loadFingerprints()));
