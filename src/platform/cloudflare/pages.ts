import { fromAnswer } from "../../pages/browser/failures.ts";
import { RefusedClients } from "../../pages/refused-clients.ts";
import type { PageJobs } from "../page-jobs.ts";
import type { PageBrowser, PagesPlatform, RateDecision } from "../pages.ts";
import type { PageLimits } from "../variables.ts";
import type { Env } from "./env.ts";

/** The page service's part of the Cloudflare runtime. */
export function cloudflarePages(env: Env, limits: PageLimits): PagesPlatform {
  const cache = () => caches.default;
  return {
    browser: env.BROWSER === undefined ? null : browsers(env, limits.browsers),
    cache: {
      match: async (key) => {
        const found = await cache().match(key);
        // The stream is handed on as it is, which never brings the bytes into the program.
        return found && { headers: found.headers, body: found.body ?? new Uint8Array() };
      },
      put: (key, answer) => cache().put(key, answer),
    },
    countCall: callCounter(env),
    jobs: jobs(env),
    codecs: async () => (await import("./codecs.ts")).CODECS,
    fingerprints: () => readAsset(env, "/data/technologies.json"),
  };
}

/** The calls of each client are counted by an object of their own, which whoever was refused does not reach again before there is room. */
function callCounter({ RATE_LIMITER: objects }: Env): PagesPlatform["countCall"] {
  const refused = new RefusedClients();
  return async (client, limit, calls): Promise<RateDecision> => {
    // Not that of the answer: by then the object's minute has gone on.
    const asked = Date.now();
    const known = refused.recall(client, asked);
    if (known !== null) return known;
    const decision = await objects.getByName(client).take(limit, calls);
    refused.note(client, decision, asked);
    return decision;
  };
}

/** A file that the program reads. Not part of the bundle: most isolates never need it, and each would keep it. */
async function readAsset({ ASSETS }: Env, path: string): Promise<string> {
  const response = await ASSETS?.fetch(new URL(path, "https://assets.invalid"));
  if (response?.ok !== true) throw new Error(`the binding ASSETS has no ${path}`);
  return response.text();
}

/** Requests are spread by what they ask for, so that equal ones meet. */
function browsers(env: Env, count: number): PageBrowser {
  const objectFor = (request: unknown) =>
    env.BROWSER_SESSION.getByName(`browser-${sum(JSON.stringify(request)) % count}`);
  return {
    capture: async (request, client) => fromAnswer(await objectFor(request).capture(request, client)),
    visit: async (request, client) => fromAnswer(await objectFor(request.url).visit(request, client)),
  };
}

/** The jobs of each client are in an object of their own, whose id is a part of theirs. */
function jobs({ PAGE_JOBS: objects }: Env): PageJobs {
  const objectOf = (job: string) => {
    const id = /^job_([\da-f]{64})_/.exec(job)?.[1];
    if (id === undefined) return null;
    try {
      return objects.get(objects.idFromString(id));
    } catch {
      // It names no object of this kind.
      return null;
    }
  };
  return {
    create: (job) => objects.getByName(job.client).create(job),
    get: async (id) => (await objectOf(id)?.get(id)) ?? null,
    result: async (id, task) => (await objectOf(id)?.result(id, task)) ?? null,
    cancel: async (id) => (await objectOf(id)?.cancel(id)) ?? null,
  };
}

/** A small number that depends on every character (FNV-1a). */
function sum(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
