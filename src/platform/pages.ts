import type { CaptureOutcome, CaptureRequest, VisitOutcome, VisitRequest } from "./page-browser.ts";
import type { PageJobs } from "./page-jobs.ts";

/** A browser somewhere else, which loads pages. */
export interface PageBrowser {
  /**
   * Captures a page. Equal requests at one moment share one capture.
   *
   * @param client the key of the client (`clientKey`) that asks; no client can hold up the others
   * @throws GatewayError with the status, code and parameter to answer with
   */
  capture(request: CaptureRequest, client: string): Promise<CaptureOutcome>;
  /** Loads a page and tells what it is made of. Throws as `capture` does. */
  visit(request: VisitRequest, client: string): Promise<VisitOutcome>;
}

/** The body of an answer; to be read once, as it may be a stream from where it is kept. */
export type AnswerBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** What is kept under a key. */
export interface CachedAnswer {
  /** Not to be changed. */
  readonly headers: Headers;
  readonly body: AnswerBody;
}

/** Answers that are kept for the next caller. Failures count as nothing kept. */
export interface AnswerCache {
  /** @param key an absolute URL */
  match(key: string): Promise<CachedAnswer | undefined>;
  put(key: string, answer: Response): Promise<void>;
}

/** What the page service needs from its runtime. */
export interface PagesPlatform {
  /** Null where no browser is bound: then there are no thumbnails, and technologies are told from the HTML alone. */
  readonly browser: PageBrowser | null;
  readonly cache: AnswerCache;
  /** Counts calls of a client, one unless said, against a limit of calls a minute: all of them or none. */
  countCall(client: string, limit: number, calls?: number): Promise<RateDecision>;
  readonly jobs: PageJobs;
  /** The image codecs, compiled. */
  codecs(): Promise<CodecModules>;
  /** The text that `scripts/build-technologies.mjs` writes. */
  fingerprints(): Promise<string>;
}

/** What a client may still do. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Calls a minute. */
  readonly limit: number;
  /** Calls that are left now. */
  readonly remaining: number;
  /** Whole seconds until the oldest counted call no longer counts; until then `remaining` does not grow. */
  readonly resetSeconds: number;
}

/** The compiled codecs, as the runtime gives them. */
export interface CodecModules {
  readonly png: WebAssembly.Module;
  readonly jpeg: WebAssembly.Module;
  readonly webp: WebAssembly.Module;
  readonly resize: WebAssembly.Module;
}
