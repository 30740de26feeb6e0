import { sleep } from "../../../core/ports/clock.ts";
import type { IncompleteReason, PageReport, WaitUntil } from "../../../core/ports/page-browser.ts";
import { navigationFailure, notRenderable, pageTimeout } from "../failures.ts";
import { evaluateIsolated } from "../tab/evaluate.ts";
import { type DocumentResponse, type MainFrame, NAVIGATED_AWAY } from "../tab/main-frame.ts";
import type { Tab } from "../tab/tab.ts";
import { createFillScript, MAY_NAVIGATE_AWAY } from "./page-scripts.ts";
import { removeCredentials } from "./remove-credentials.ts";

/** How to load a page. */
export interface LoadOptions {
  readonly waitUntil: WaitUntil;
  /**
   * Maximum load time, over all documents that the page navigates to; then the page is captured as it is. Milliseconds.
   */
  readonly timeoutMs: number;
  /** Maximum time until a document begins to arrive, milliseconds. */
  readonly commitMs: number;
  /** Whether the page is to be drawn. */
  readonly isDrawn: boolean;
}

/** Maximum number of documents that a page may navigate to by itself; browsers follow as many HTTP redirects. */
const MAX_DOCUMENTS = 20;
/** Time for a page that seems about to navigate away, milliseconds. */
const NAVIGATION_GRACE_MS = 500;
/** Maximum time for an expression about the state of the page, milliseconds. */
const PROBE_MS = 1_000;
/** Maximum time to fill a document with the server's response and to load its resources, milliseconds. */
const FILL_MS = 3_000;
/** Longer responses are not used for a document that the browser did not read, in UTF-16 code units. */
const MAX_RESPONSE = 2_000_000;
/** How long the network must be quiet until it counts as idle, milliseconds. */
const IDLE_MS = 500;
/** How many requests may lack a response meanwhile; null: the network does not matter. */
const OPEN_REQUESTS = { load: null, domcontentloaded: null, networkidle0: 0, networkidle2: 2 } as const;

/**
 * Loads a page, follows its own navigations to other documents, and runs work on the document where it stays. If the
 * page navigates away during the work, the work runs again on the next document. A page that has begun to arrive but
 * does not finish in time is used as it is.
 *
 * @param work its second argument is the server's response as text if the browser has not read all of its markup;
 * otherwise null
 * @throws GatewayError if there is no page to show
 */
export async function runOnPage<T>(
  tab: Tab,
  url: string,
  loading: LoadOptions,
  work: (signal: AbortSignal, response: string | null) => Promise<T>,
): Promise<{ readonly report: PageReport; readonly result: T }> {
  const load = new PageLoad(tab, loading);
  load.startNavigation(url);
  for (;;) {
    await load.waitUntilSettled();
    const result = await tab.frame.runWhileShown((signal) => work(signal, load.unreadResponse));
    if (result !== NAVIGATED_AWAY) return { report: load.report(), result };
  }
}

/** The load of one page. */
class PageLoad {
  readonly #tab: Tab;
  readonly #loading: LoadOptions;
  readonly #startedAt = Date.now();
  /** The result of the navigation to the requested URL: the browser's error text, or empty. Null while pending. */
  #navigationError: string | null = null;
  /** The document that had no time to finish: the capture shows it as it is. */
  #unfinished: UnfinishedDocument | null = null;
  /** Id of the document that was given time to navigate away, and stayed. */
  #checkedDocument: string | null = null;
  /** The result of the navigation check for a document that was still loading. */
  #earlyCheck: { readonly documentId: string; readonly mayNavigateAway: Promise<unknown> } | null = null;

  constructor(tab: Tab, loading: LoadOptions) {
    this.#tab = tab;
    this.#loading = loading;
  }

  /** The server's response if the browser has not read all of its markup; otherwise null. */
  get unreadResponse(): string | null {
    const { frame } = this.#tab;
    return this.#unfinished?.id === frame.documentId ? (this.#unfinished?.response ?? null) : null;
  }

  startNavigation(url: string): void {
    const setError = (text: string) => {
      this.#navigationError = text;
    };
    this.#tab.session.send("Page.navigate", { url }).then(
      ({ errorText }) => setError(errorText ?? ""),
      (error: unknown) => setError(error instanceof Error ? error.message : "net::ERR_FAILED"),
    );
  }

  /** Waits until a document is ready and shows no sign of navigating away. */
  async waitUntilSettled(): Promise<void> {
    const { frame } = this.#tab;
    for (;;) {
      this.#throwIfFailed();
      const { documentId, navigatingAwaySince } = frame;
      if (documentId !== null && navigatingAwaySince === null) {
        if (documentId === this.#unfinished?.id) return;
        if (!frame.isReady(this.#loading.waitUntil)) this.#startEarlyCheck(documentId);
        else if (await this.#waitUntilIdle(documentId)) return;
      }
      if (frame.documentId !== documentId || frame.navigatingAwaySince !== navigatingAwaySince) continue;
      if (this.#remainingMs() <= 0) await this.#stopLoading();
      else await Promise.race([frame.nextChange(), sleep(Math.min(250, this.#remainingMs()))]);
    }
  }

  report(): PageReport {
    const { page, frame, policy } = this.#tab;
    const unfinished = this.#unfinished?.id === frame.documentId ? this.#unfinished : null;
    const cut = frame.isResponseCut ? "response_cut" : null;
    return {
      url: removeCredentials(page.url()),
      status: frame.response?.status ?? 200,
      incomplete: unfinished?.reason ?? (policy.overBudget ? "over_budget" : cut),
      overBudget: policy.overBudget,
    };
  }

  /** Milliseconds left for loading. */
  #remainingMs(): number {
    const { frame, isCutShort } = this.#tab;
    if (isCutShort && frame.documentId !== null && frame.navigatingAwaySince === null) return 0;
    return this.#startedAt + this.#loading.timeoutMs - Date.now();
  }

  /** Throws if the load can no longer succeed. */
  #throwIfFailed(): void {
    const { frame } = this.#tab;
    if (frame.failure !== "") throw navigationFailure(frame.failure);
    if (frame.documentCount > MAX_DOCUMENTS) throw navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
    if (frame.documentId === null && this.#navigationError)
      throw createNavigationError(this.#navigationError, frame.lastResponse);
    const since = frame.documentId === null ? this.#startedAt : frame.navigatingAwaySince;
    if (since !== null && Date.now() - since > this.#loading.commitMs) throw createTimeoutError(frame);
  }

  /** Waits until the network is idle as requested. Returns false if the page navigates away meanwhile. */
  async #waitUntilIdle(documentId: string): Promise<boolean> {
    const { frame, activity, whenCutShort } = this.#tab;
    const maxUnanswered = OPEN_REQUESTS[this.#loading.waitUntil];
    if (this.#checkedDocument === documentId) return true;
    const outcome = await frame.runWhileShown(async (signal) => {
      await this.#allowTimeToNavigateAway();
      if (maxUnanswered === null) return;
      const ended = new AbortController();
      const anyEnd = AbortSignal.any([signal, ended.signal]);
      const idle = activity
        .waitUntilIdle(maxUnanswered, IDLE_MS, this.#remainingMs(), anyEnd)
        .then((isIdle) => (isIdle ? null : ("load_timeout" as const)));
      const cutShort = whenCutShort.then(() => "over_budget" as const);
      const reason = await Promise.race([idle, cutShort]).finally(() => ended.abort());
      if (reason !== null && !signal.aborted) this.#unfinished = { id: documentId, reason, response: null };
    });
    if (outcome === NAVIGATED_AWAY) return false;
    this.#checkedDocument = documentId;
    return true;
  }

  /** Waits a moment for a page that shows almost nothing and has a script: it is likely to navigate away. */
  async #allowTimeToNavigateAway(): Promise<void> {
    const { frame } = this.#tab;
    if (frame.isLoadAborted) await this.#ensureBody(null);
    // If the page had content while its images were loading, no second check is needed.
    const early =
      this.#earlyCheck?.documentId === frame.documentId ? await this.#earlyCheck?.mayNavigateAway : undefined;
    if (early !== false && (await this.#mayNavigateAway()) === true) await sleep(NAVIGATION_GRACE_MS);
  }

  /** Checks a page early, while it still loads resources, so that no time is lost on the check later. */
  #startEarlyCheck(documentId: string): void {
    if (this.#earlyCheck?.documentId === documentId || !this.#tab.frame.isParsed) return;
    this.#earlyCheck = { documentId, mayNavigateAway: this.#mayNavigateAway() };
  }

  /** Whether the page seems about to navigate away; neither true nor false if it does not answer. */
  #mayNavigateAway(): Promise<unknown> {
    return evaluateIsolated(this.#tab, MAY_NAVIGATE_AWAY, PROBE_MS);
  }

  /**
   * Makes a document drawable whose loading ended before its body: the browser never draws it, and a capture would not
   * complete. The content is the server's response if it is known; its scripts do not run.
   */
  async #ensureBody(response: string | null): Promise<void> {
    if (!this.#loading.isDrawn) return;
    const { session, policy } = this.#tab;
    if ((await evaluateIsolated(this.#tab, "document.body === null", PROBE_MS)) !== true) return;
    const doctype = /<!doctype html/i.test(response?.slice(0, 1_000) ?? "") ? "<!doctype html>" : "";
    const emptyDocument = { frameId: policy.mainFrame, html: `${doctype}<body></body>` };
    await session.send("Page.setDocumentContent", emptyDocument).catch(() => undefined);
    if (response === null) return;
    await evaluateIsolated(this.#tab, createFillScript(response), FILL_MS);
    await session.send("Page.stopLoading").catch(() => undefined);
  }

  /** Handles the timeout: uses what has arrived, unless the page is about to navigate away. */
  async #stopLoading(): Promise<void> {
    const { frame, session, policy } = this.#tab;
    const { documentId } = frame;
    if (documentId === null || frame.navigatingAwaySince !== null) throw createTimeoutError(frame);
    const state = await evaluateIsolated(this.#tab, "document.readyState", PROBE_MS);
    const isBlocked = state === "loading";
    const response = isBlocked ? await this.#readResponse(documentId) : null;
    const reason = policy.overBudget ? "over_budget" : isBlocked ? "blocked_markup" : "load_timeout";
    this.#unfinished = { id: documentId, reason, response };
    await session.send("Page.stopLoading").catch(() => undefined);
    await this.#ensureBody(response);
  }

  /** The server's response of a document as text; null if it is not complete, too long, or no text. */
  async #readResponse(documentId: string): Promise<string | null> {
    const { session } = this.#tab;
    const answer = await session
      .send("Network.getResponseBody", { requestId: documentId })
      .catch(() => ({ body: "", base64Encoded: true }));
    return answer.base64Encoded || answer.body.length > MAX_RESPONSE ? null : answer.body;
  }
}

/** A document that had no time to finish. */
interface UnfinishedDocument {
  readonly id: string;
  readonly reason: IncompleteReason;
  /** The server's response if the browser has not read all of its markup; otherwise null. */
  readonly response: string | null;
}

/** Browsers follow 20 redirects. A page that still redirects after this many counts as a redirect loop. */
const REDIRECT_LOOP = 10;

/** The error if the time ended before any page arrived. */
function createTimeoutError({ redirects }: MainFrame): Error {
  return redirects < REDIRECT_LOOP ? pageTimeout() : navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
}

/**
 * The error of a failed navigation. If the browser itself aborted it, the response is of a type that it does not show.
 */
function createNavigationError(text: string, response: DocumentResponse | undefined): Error {
  if (!text.includes("net::")) return new Error(text);
  if (!text.includes("ERR_ABORTED") || response === undefined) return navigationFailure(text);
  if (response.status === 204 || response.status === 205) return notRenderable("an empty answer");
  const type = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  return notRenderable(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? `a download (${type})` : "a download");
}
