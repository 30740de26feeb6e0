import type { NewAnswer } from "../answers/answer.ts";
import { createJsonAnswer } from "../answers/json-answer.ts";
import { incompleteMembers } from "../answers/page-headers.ts";
import type { PageWork } from "../operations/page-work.ts";
import { getDetector } from "../technologies/detect-technologies.ts";
import { findDnsRecords, loadPage, type PageToLoad } from "../technologies/load-page.ts";
import { parseMetadata } from "./parse-metadata.ts";
import type { MetadataResult } from "./result.ts";

/**
 * Loads a page and reads its metadata.
 *
 * @param technologies whether to detect its technologies too, from the same load
 * @throws the error for the caller
 */
export async function loadMetadata(
  work: PageWork,
  target: PageToLoad,
  technologies: boolean,
): Promise<NewAnswer> {
  const { platform } = work;
  const { page } = target;
  const [detector, dns] = technologies
    ? await Promise.all([getDetector(platform.pages), findDnsRecords(work, target)])
    : [null, {}];
  const { report, signals } = await loadPage(work, target, detector);
  const { html = "", headers = {} } = signals;
  const result: MetadataResult = {
    url: report.url,
    originalUrl: page.href,
    ...parseMetadata({ html, headers, url: report.url }),
    ...incompleteMembers(report.incomplete),
    ...(detector !== null && {
      applications: detector
        .detect({ ...signals, dns })
        .map((application) => ({ ...application, categories: [...application.categories] })),
    }),
  };
  return createJsonAnswer(result, report, platform.now());
}
