import { toUtf8 } from "../../core/encoding/bytes.ts";
import type { NewAnswer, PageWork } from "../cache/answer-cache.ts";
import { cacheLifetime, incompleteMembers, pageHeaders } from "../cache/page-headers.ts";
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
  return {
    body: toUtf8(JSON.stringify(result)),
    headers: { "content-type": "application/json", ...pageHeaders(report) },
    madeAt: platform.now(),
    lifetime: cacheLifetime(report),
  };
}
