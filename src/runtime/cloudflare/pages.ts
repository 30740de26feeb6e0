import { onAbort } from "../../core/http/abort-signals.ts";
import type { PageJobs } from "../../core/ports/page-jobs.ts";
import type { AnswerCache, PageBrowser, PagesPlatform, RateDecision } from "../../core/ports/pages.ts";
import type { PageLimits } from "../../core/variables/variables.ts";
import { fromRpcResult, type RpcResult } from "../../pages/browser/rpc-result.ts";
import { RejectionCache } from "../../pages/limits/rejection-cache.ts";
import type { Env } from "./env.ts";

/** The cache of the data center, for answers of the page service and the response cache. */
export const DEFAULT_CACHE: AnswerCache = {
  match: async (key) => {
    const cached = await caches.default.match(key);
    // Passing the stream on keeps the bytes out of the isolate's memory.
    return cached && { headers: cached.headers, body: cached.body ?? new Uint8Array() };
  },
  put: (key, response) => caches.default.put(key, response),
};

/** The page service's part of the Cloudflare runtime. */
export function createPagesPlatform(env: Env, limits: PageLimits): PagesPlatform {
  return {
    browser: env.BROWSER === undefined ? null : createPageBrowser(env, limits.browsers),
    cache: DEFAULT_CACHE,
    countCalls: createCallCounter(env),
    jobs: createPageJobs(env),
    supportsAvif: false,
    loadImageConversion: async () => (await import("./codecs.ts")).createImageConverter(),
    loadFingerprints: () => readAsset(env, "/data/technologies.json"),
  };
}

/**
 * One object per client counts its calls. While a client is refused, the isolate answers from memory and does not call the
 * object.
 */
function createCallCounter({ RATE_LIMITER: objects }: Env): PagesPlatform["countCalls"] {
  const rejections = new RejectionCache();
  return async (client, limit, calls): Promise<RateDecision> => {
    // The time before the call: when the answer arrives, the object's minute has moved on.
    const requestedAt = Date.now();
    const known = rejections.getRejection(client, requestedAt);
    if (known !== null) return known;
    const decision = await objects.getByName(client).take(limit, calls);
    rejections.remember(client, decision, requestedAt);
    return decision;
  };
}

/** Reads a data file. It is not part of the bundle: most isolates never need it, and each would keep it in memory. */
async function readAsset({ ASSETS }: Env, path: string): Promise<string> {
  const response = await ASSETS?.fetch(new URL(path, "https://assets.invalid"));
  if (response?.ok !== true) throw new Error(`the binding ASSETS has no ${path}`);
  return response.text();
}

/** Picks one of the objects `BrowserSession` by a hash of the request, so that equal requests share one browser. */
function createPageBrowser(env: Env, count: number): PageBrowser {
  const getBrowser = (request: unknown) =>
    env.BROWSER_SESSION.getByName(`browser-${hashText(JSON.stringify(request)) % count}`);
  return {
    capture: (request, client, signal) =>
      withTicket(getBrowser(request), signal, (browser, ticket) => browser.capture(request, client, ticket)),
    visit: (request, client, signal) =>
      withTicket(getBrowser([request.url, request.setup.html]), signal, (browser, ticket) =>
        browser.visit(request, client, ticket),
      ),
  };
}

type BrowserStub = ReturnType<Env["BROWSER_SESSION"]["getByName"]>;

/** Makes a call of a browser's object, and tells the object when the caller leaves: signals do not cross RPC. */
async function withTicket<T>(
  browser: BrowserStub,
  signal: AbortSignal | undefined,
  call: (browser: BrowserStub, ticket: string | null) => Promise<RpcResult<T>>,
): Promise<T> {
  if (signal === undefined) return fromRpcResult(await call(browser, null));
  const ticket = crypto.randomUUID();
  const pending = call(browser, ticket);
  const stopListening = onAbort(signal, () => {
    // If the object is gone, so is its queue.
    browser.leave(ticket).catch(() => undefined);
  });
  try {
    return fromRpcResult(await pending);
  } finally {
    stopListening();
  }
}

/** One object per client holds its jobs. A job's id contains the object's id. */
function createPageJobs({ PAGE_JOBS: objects }: Env): PageJobs {
  const findObject = (job: string) => {
    const id = /^job_([\da-f]{64})_/.exec(job)?.[1];
    if (id === undefined) return null;
    try {
      return objects.get(objects.idFromString(id));
    } catch {
      // The id names no object of this namespace.
      return null;
    }
  };
  return {
    create: (job) => objects.getByName(job.client).create(job),
    get: async (id) => (await findObject(id)?.get(id)) ?? null,
    result: async (id, task) => (await findObject(id)?.result(id, task)) ?? null,
    cancel: async (id) => (await findObject(id)?.cancel(id)) ?? null,
  };
}

/** Hashes a text to 32 bits (FNV-1a). */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
