import type {
  CaptureOutcome,
  CaptureRequest,
  ImageFormat,
  Size,
  VisitOutcome,
  VisitRequest,
} from "./page-browser.ts";
import type { PageJobs } from "./page-jobs.ts";

/** Loads pages in a browser: on Workers a remote one, on Deno one of this machine. */
export interface PageBrowser {
  /**
   * Captures a page. Equal concurrent requests in the same browser share one capture.
   *
   * @param client the key of the requesting client (`clientKey`); no client can block the others
   * @param signal aborts when no client waits for the outcome any more: then a request that has no tab yet leaves the queue
   * @throws GatewayError with the status, code and parameter to answer with
   */
  capture(request: CaptureRequest, client: string, signal?: AbortSignal): Promise<CaptureOutcome>;
  /** Loads a page and returns its content. Throws as `capture` does. */
  visit(request: VisitRequest, client: string, signal?: AbortSignal): Promise<VisitOutcome>;
}

/** The body of a cached answer. Read it only once: it may be a stream from the cache. */
export type AnswerBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A cached answer. */
export interface CachedAnswer {
  /** Do not change them. */
  readonly headers: Headers;
  readonly body: AnswerBody;
}

/** A cache of answers. A failure counts as a cache miss. */
export interface AnswerCache {
  /** @param key an absolute URL */
  match(key: string): Promise<CachedAnswer | undefined>;
  put(key: string, answer: Response): Promise<void>;
}

/** What the page service needs from its runtime. */
export interface PagesPlatform {
  /** Null on Workers without the binding `BROWSER`: thumbnails fail, and technology detection uses the HTML alone. */
  readonly browser: PageBrowser | null;
  readonly cache: AnswerCache;
  /** Counts `calls` (default 1) of a client against a limit per minute: either all of them or none. */
  countCalls(client: string, limit: number, calls?: number): Promise<RateDecision>;
  readonly jobs: PageJobs;
  /** Whether images can be encoded as AVIF: the encoder alone would be larger than the rest of the Worker. */
  readonly supportsAvif: boolean;
  /** Loads what converts pictures. */
  loadImageConversion(): Promise<ImageConversion>;
  /** The fingerprints, as text that `scripts/build-technologies.mjs` writes. */
  loadFingerprints(): Promise<string>;
}

/** The rate limit decision for a client. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Calls per minute. */
  readonly limit: number;
  /** Calls left in the window. */
  readonly remaining: number;
  /** Whole seconds until the oldest counted call leaves the window; `remaining` does not grow before that. */
  readonly resetSeconds: number;
}

/** Converts PNG captures to images of the requested size and format; see `ImageConverter`. */
export interface ImageConversion {
  convert(
    png: Uint8Array<ArrayBuffer>,
    size: Size,
    format: ImageFormat,
    quality: number,
    margin?: number,
    transparent?: boolean,
  ): Promise<Uint8Array<ArrayBuffer>>;
}

/** The compiled codecs, as the runtime provides them. */
export interface CodecModules {
  readonly png: WebAssembly.Module;
  readonly jpeg: WebAssembly.Module;
  readonly webp: WebAssembly.Module;
  readonly resize: WebAssembly.Module;
  /** Loads the AVIF encoder; null where `supportsAvif` is false. */
  readonly avif: (() => Promise<AvifEncoder>) | null;
}

/** Encodes RGBA pixels as AVIF. */
export interface AvifEncoder {
  encode(pixels: ArrayLike<number>, width: number, height: number, quality: number): Uint8Array | null;
}
