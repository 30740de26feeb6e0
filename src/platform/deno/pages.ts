import { type BodyStore, ProcessAnswerCache } from "../../pages/process-cache.ts";
import type { PageJobs } from "../page-jobs.ts";
import type { PageBrowser, PagesPlatform } from "../pages.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Size limit of cached thumbnails and technology results on the disk. */
const CACHE_BYTES = 64 * 1024 * 1024;

const built = (name: string): URL => new URL(`../../../dist/${name}`, import.meta.url);

async function compile(specifier: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Deno.readFile(new URL(import.meta.resolve(specifier))));
}

/** The list that `scripts/build-block-lists.mjs` writes. */
export function blockLists(): Promise<string> {
  return Deno.readTextFile(built("block-lists.txt"));
}

/** The page service's part of a process; `browser` is null if no browser was found. */
export function denoPages(
  browser: PageBrowser | null,
  limits: RateLimits,
  jobs: PageJobs,
  bodies: BodyStore,
): PagesPlatform {
  return {
    browser,
    cache: new ProcessAnswerCache(Date.now, CACHE_BYTES, bodies),
    countCall: async (client, limit, calls) => limits.take(client, limit, calls),
    jobs,
    codecs: async () => ({
      jpeg: await compile("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"),
      png: await compile("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
      resize: await compile("@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm"),
      webp: await compile("@jsquash/webp/codec/enc/webp_enc_simd.wasm"),
    }),
    fingerprints: () => Deno.readTextFile(built("assets/data/technologies.json")),
  };
}
