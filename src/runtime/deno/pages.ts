import type { PageJobs } from "../../core/ports/page-jobs.ts";
import type { PageBrowser, PagesPlatform } from "../../core/ports/pages.ts";
import { type BodyStore, ProcessAnswerCache } from "../../pages/cache/process-answer-cache.ts";
import { ImageThread } from "./image-thread.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Size limit of cached thumbnails and technology results on the disk. */
const CACHE_BYTES = 64 * 1024 * 1024;

const builtFile = (name: string): URL => new URL(`../../../dist/${name}`, import.meta.url);

/** The list that `scripts/build-block-lists.mjs` writes. */
export function readBlockLists(): Promise<string> {
  return Deno.readTextFile(builtFile("block-lists.txt"));
}

/** The page service's part of the Deno runtime. Without a browser, `browser` is `UNAVAILABLE_BROWSER`. */
export function createPagesPlatform(
  browser: PageBrowser,
  limits: RateLimits,
  jobs: PageJobs,
  bodies: BodyStore,
): PagesPlatform {
  return {
    browser,
    cache: new ProcessAnswerCache(Date.now, CACHE_BYTES, bodies),
    countCalls: async (client, limit, calls) => limits.take(client, limit, calls),
    jobs,
    supportsAvif: true,
    loadImageConversion: async () => new ImageThread(),
    loadFingerprints: () => Deno.readTextFile(builtFile("assets/data/technologies.json")),
  };
}
