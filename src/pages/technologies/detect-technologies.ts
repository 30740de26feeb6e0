import { oncePer } from "../../core/encoding/once.ts";
import type { PagesPlatform } from "../../core/ports/pages.ts";
import type { NewAnswer } from "../answers/answer.ts";
import { createJsonAnswer } from "../answers/json-answer.ts";
import type { PageWork } from "../operations/page-work.ts";
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
  return createJsonAnswer(result, report, platform.now());
}

/** The detector of a runtime, created on first use. */
export function getDetector(pages: PagesPlatform): Promise<TechnologyDetector> {
  return getLoader(pages)();
}

const getLoader = oncePer((pages: PagesPlatform) => createLazyDetector(() => pages.loadFingerprints()));
