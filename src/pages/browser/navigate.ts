import type { PageReport, WaitUntil } from "../../platform/page-browser.ts";
import { evaluate, isolatedWorld, sleep } from "./evaluate.ts";
import { navigationFailure, notRenderable, pageTimeout } from "./failures.ts";
import { type DocumentAnswer, LEFT, type MainFrame } from "./main-frame.ts";
import { MAY_GO_ON } from "./page-scripts.ts";
import { shownAddress } from "./shown-address.ts";
import type { Tab } from "./tab.ts";

/** How to load a page. */
export interface Loading {
  readonly waitUntil: WaitUntil;
  /**
   * Maximum load time, over all documents that the page navigates to; then the page is captured as it is. Milliseconds.
   */
  readonly timeoutMs: number;
  /** Maximum time until a document begins to arrive, milliseconds. */
  readonly commitMs: number;
}

/** Maximum number of documents that a page may navigate to by itself; browsers follow as many HTTP redirects. */
const MAX_DOCUMENTS = 20;
/** Time for a page that seems about to navigate away, milliseconds. */
const GOING_ON_MS = 500;
const PROBE_MS = 1_000;
/** Maximum open requests when the network counts as idle. */
const OPEN_REQUESTS = { load: null, domcontentloaded: null, networkidle0: 0, networkidle2: 2 } as const;

/**
 * Loads a page, follows its own navigations to other documents, and runs work on the document where it stays. If the
 * page navigates away during the work, the work runs again on the next document. A page that has begun to arrive but
 * does not finish in time is used as it is.
 *
 * @throws GatewayError if there is no page to show
 */
export async function onPage<T>(
  tab: Tab,
  url: string,
  loading: Loading,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly report: PageReport; readonly result: T }> {
  const visit = new Visit(tab, loading);
  visit.begin(url);
  for (;;) {
    await visit.settle();
    const result = await tab.frame.whileStaying(work);
    if (result !== LEFT) return { report: visit.report(), result };
  }
}

/** The load of one page. */
class Visit {
  readonly #tab: Tab;
  readonly #loading: Loading;
  readonly #startedAt = Date.now();
  /** The result of our own navigation: the browser's error text, or empty. Null while pending. */
  #refusal: string | null = null;
  /** The document that is used as it is, unfinished. */
  #unfinished: string | null = null;
  /** The document that had its time to navigate away, and stayed. */
  #stayed: string | null = null;
  /** The result of the navigation check for a document that was still loading. */
  #early: { readonly document: string; readonly mayGoOn: Promise<unknown> } | null = null;

  constructor(tab: Tab, loading: Loading) {
    this.#tab = tab;
    this.#loading = loading;
  }

  begin(url: string): void {
    const refuse = (text: string) => {
      this.#refusal = text;
    };
    this.#tab.session.send("Page.navigate", { url }).then(
      ({ errorText }) => refuse(errorText ?? ""),
      (error: unknown) => refuse(error instanceof Error ? error.message : "net::ERR_FAILED"),
    );
  }

  /** Waits until a document is ready and shows no sign of navigating away. */
  async settle(): Promise<void> {
    const { frame } = this.#tab;
    for (;;) {
      this.#judge();
      const { document, leavingSince } = frame;
      if (document !== null && leavingSince === null) {
        if (document === this.#unfinished) return;
        if (!frame.isReady(this.#loading.waitUntil)) this.#lookEarly(document);
        else if (await this.#isAtRest(document)) return;
      }
      if (frame.document !== document || frame.leavingSince !== leavingSince) continue;
      if (this.#left() <= 0) await this.#giveUp();
      else await Promise.race([frame.changed(), sleep(Math.min(250, this.#left()))]);
    }
  }

  report(): PageReport {
    const { page, frame, policy } = this.#tab;
    return {
      url: shownAddress(page.url()),
      status: frame.answer?.status ?? 200,
      incomplete: frame.document === this.#unfinished,
      overBudget: policy.overBudget,
    };
  }

  /** Milliseconds left for loading. */
  #left(): number {
    const { frame, wasCutShort } = this.#tab;
    if (wasCutShort && frame.document !== null && frame.leavingSince === null) return 0;
    return this.#startedAt + this.#loading.timeoutMs - Date.now();
  }

  /** Throws if the load can no longer succeed. */
  #judge(): void {
    const { frame } = this.#tab;
    if (frame.failure !== "") throw navigationFailure(frame.failure);
    if (frame.documents > MAX_DOCUMENTS) throw navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
    if (frame.document === null && this.#refusal) throw refusal(this.#refusal, frame.lastAnswer);
    const since = frame.document === null ? this.#startedAt : frame.leavingSince;
    if (since !== null && Date.now() - since > this.#loading.commitMs) throw unfinished(frame);
  }

  /** Whether the network is idle as requested, and the page did not navigate away when given the time to. */
  async #isAtRest(document: string): Promise<boolean> {
    const { frame, page } = this.#tab;
    const concurrency = OPEN_REQUESTS[this.#loading.waitUntil];
    if (this.#stayed === document) return true;
    const stays = await frame.whileStaying(async () => {
      await this.#waitForDeparture();
      if (concurrency === null) return;
      const timeout = Math.max(1, this.#left());
      const idle = page
        .waitForNetworkIdle({ idleTime: 500, concurrency, timeout })
        .catch(async (error: unknown) => {
          const { TimeoutError } = await import("@cloudflare/puppeteer");
          if (!(error instanceof TimeoutError)) throw error;
          this.#unfinished = document;
        });
      if ((await Promise.race([idle, this.#tab.isCutShort])) !== true) return;
      idle.catch(() => undefined);
      this.#unfinished = document;
    });
    if (stays === LEFT) return false;
    this.#stayed = document;
    return true;
  }

  /** Waits a moment for a page that shows almost nothing and has a script: it is likely to navigate away. */
  async #waitForDeparture(): Promise<void> {
    const { frame } = this.#tab;
    if (frame.isBrokenOff) await this.#ensureBody();
    // If the page had content while its images were loading, no second check is needed.
    const early = this.#early?.document === frame.document ? await this.#early?.mayGoOn : undefined;
    if (early !== false && (await this.#mayGoOn()) === true) await sleep(GOING_ON_MS);
  }

  /** Checks a page early, while it still loads resources, so that no time is lost on the check later. */
  #lookEarly(document: string): void {
    if (this.#early?.document === document || !this.#tab.frame.isParsed) return;
    this.#early = { document, mayGoOn: this.#mayGoOn() };
  }

  /** Whether the page seems about to navigate away; neither true nor false if it does not answer. */
  async #mayGoOn(): Promise<unknown> {
    const { session, policy } = this.#tab;
    return evaluate(session, MAY_GO_ON, PROBE_MS, await isolatedWorld(session, policy.mainFrame));
  }

  /**
   * Creates an empty body in a document whose loading was aborted before its body. Without a body the browser draws
   * nothing, and a capture never completes.
   */
  async #ensureBody(): Promise<void> {
    const { session, policy } = this.#tab;
    const world = await isolatedWorld(session, policy.mainFrame);
    if ((await evaluate(session, "document.body === null", PROBE_MS, world)) !== true) return;
    const empty = { frameId: policy.mainFrame, html: "<body></body>" };
    await session.send("Page.setDocumentContent", empty).catch(() => undefined);
  }

  /** Handles the timeout: uses what has arrived, unless the page is about to navigate away. */
  async #giveUp(): Promise<void> {
    const { frame, session } = this.#tab;
    if (frame.document === null || frame.leavingSince !== null) throw unfinished(frame);
    this.#unfinished = frame.document;
    await session.send("Page.stopLoading").catch(() => undefined);
    await this.#ensureBody();
  }
}

/** Browsers follow 20 redirects. A page that still redirects after this many counts as a redirect loop. */
const REDIRECT_LOOP = 10;

/** The error if the time ended before any page arrived. */
function unfinished({ redirects }: MainFrame): Error {
  return redirects < REDIRECT_LOOP ? pageTimeout() : navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
}

/**
 * The error of a failed navigation. If the browser itself aborted it, the response is of a type that it does not show.
 */
function refusal(text: string, answer: DocumentAnswer | undefined): Error {
  if (!text.includes("net::")) return new Error(text);
  if (!text.includes("ERR_ABORTED") || answer === undefined) return navigationFailure(text);
  if (answer.status === 204 || answer.status === 205) return notRenderable("an empty answer");
  const type = answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  return notRenderable(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? `a download (${type})` : "a download");
}
