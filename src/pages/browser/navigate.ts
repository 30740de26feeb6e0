import type { PageReport, WaitUntil } from "../../platform/page-browser.ts";
import { evaluate, isolatedWorld, sleep } from "./evaluate.ts";
import { navigationFailure, notRenderable, pageTimeout } from "./failures.ts";
import { type DocumentAnswer, LEFT, type MainFrame } from "./main-frame.ts";
import { MAY_GO_ON } from "./page-scripts.ts";
import { shownAddress } from "./shown-address.ts";
import type { Tab } from "./tab.ts";

/** How a page is loaded. */
export interface Loading {
  readonly waitUntil: WaitUntil;
  /** How long the page may load, with all documents that it leads to; then it is taken as it is. Milliseconds. */
  readonly timeoutMs: number;
  /** How long a document may take to begin to arrive, milliseconds. */
  readonly commitMs: number;
}

/** Documents that one page may lead to by itself, one after the other; browsers follow as many redirects of a server. */
const MAX_DOCUMENTS = 20;
/** How long a page that looks as if it would go on has time to, milliseconds. */
const GOING_ON_MS = 500;
const PROBE_MS = 1_000;
/** Requests that may be open when the network is said to rest. */
const OPEN_REQUESTS = { load: null, domcontentloaded: null, networkidle0: 0, networkidle2: 2 } as const;

/**
 * Loads a page, follows it for as long as it goes on to other documents by itself, and does work on the one where it stays. When the page leaves in
 * the midst of the work, the work is done again on the next document. A page that has begun to arrive but does not finish within its time is
 * taken as it is.
 *
 * @throws GatewayError when there is no page to show
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

/** One page on its way. */
class Visit {
  readonly #tab: Tab;
  readonly #loading: Loading;
  readonly #startedAt = Date.now();
  /** What came of the navigation that we ourselves began: the browser's error, or nothing. */
  #refusal: string | null = null;
  /** The document that is taken as it is. */
  #unfinished: string | null = null;
  /** The document that had its time to go on. */
  #stayed: string | null = null;
  /** How a document looked while it was still loading. */
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

  /** Waits until a document is ready and shows no sign of leaving. */
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

  /** Milliseconds that the page may still load. */
  #left(): number {
    const { frame, wasCutShort } = this.#tab;
    if (wasCutShort && frame.document !== null && frame.leavingSince === null) return 0;
    return this.#startedAt + this.#loading.timeoutMs - Date.now();
  }

  /** Throws when no page can come of it any more. */
  #judge(): void {
    const { frame } = this.#tab;
    if (frame.failure !== "") throw navigationFailure(frame.failure);
    if (frame.documents > MAX_DOCUMENTS) throw navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
    if (frame.document === null && this.#refusal) throw refusal(this.#refusal, frame.lastAnswer);
    const since = frame.document === null ? this.#startedAt : frame.leavingSince;
    if (since !== null && Date.now() - since > this.#loading.commitMs) throw unfinished(frame);
  }

  /** Whether the network rests as it is to, and the page has not made use of its time to go on. */
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

  /** Gives a page that shows next to nothing and has a script a moment: it is likely to lead elsewhere. */
  async #waitForDeparture(): Promise<void> {
    const { frame } = this.#tab;
    if (frame.isBrokenOff) await this.#ensureBody();
    // A page that had something to show while its images were loading need not be asked again.
    const early = this.#early?.document === frame.document ? await this.#early?.mayGoOn : undefined;
    if (early !== false && (await this.#mayGoOn()) === true) await sleep(GOING_ON_MS);
  }

  /** Has a look at a page that is there and still loads something: then nobody has to wait for that later. */
  #lookEarly(document: string): void {
    if (this.#early?.document === document || !this.#tab.frame.isParsed) return;
    this.#early = { document, mayGoOn: this.#mayGoOn() };
  }

  /** Whether the page looks as if it would go on; neither true nor false when it does not answer. */
  async #mayGoOn(): Promise<unknown> {
    const { session, policy } = this.#tab;
    return evaluate(session, MAY_GO_ON, PROBE_MS, await isolatedWorld(session, policy.mainFrame));
  }

  /**
   * Gives a document that was broken off before its body something to draw. Without that a browser draws nothing, and no picture ever comes.
   */
  async #ensureBody(): Promise<void> {
    const { session, policy } = this.#tab;
    const world = await isolatedWorld(session, policy.mainFrame);
    if ((await evaluate(session, "document.body === null", PROBE_MS, world)) !== true) return;
    const empty = { frameId: policy.mainFrame, html: "<body></body>" };
    await session.send("Page.setDocumentContent", empty).catch(() => undefined);
  }

  /** Time is over: what has arrived will do, if it is not about to be left. */
  async #giveUp(): Promise<void> {
    const { frame, session } = this.#tab;
    if (frame.document === null || frame.leavingSince !== null) throw unfinished(frame);
    this.#unfinished = frame.document;
    await session.send("Page.stopLoading").catch(() => undefined);
    await this.#ensureBody();
  }
}

/** A browser follows 20 redirects; one that was still following after so many would have come to that. */
const REDIRECT_LOOP = 10;

/** Time ended before any page arrived. */
function unfinished({ redirects }: MainFrame): Error {
  return redirects < REDIRECT_LOOP ? pageTimeout() : navigationFailure("net::ERR_TOO_MANY_REDIRECTS");
}

/** A navigation that the browser itself gives up has been answered with something that it does not show. */
function refusal(text: string, answer: DocumentAnswer | undefined): Error {
  if (!text.includes("net::")) return new Error(text);
  if (!text.includes("ERR_ABORTED") || answer === undefined) return navigationFailure(text);
  if (answer.status === 204 || answer.status === 205) return notRenderable("an empty answer");
  const type = answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  return notRenderable(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? `a download (${type})` : "a download");
}
