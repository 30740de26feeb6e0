import type { Browser } from "@cloudflare/puppeteer";
import type {
  CaptureOutcome,
  CaptureRequest,
  VisitOutcome,
  VisitRequest,
} from "../../platform/page-browser.ts";
import type { PageLimits } from "../../platform/variables.ts";
import { type BlockLists, readBlockLists } from "./block-lists.ts";
import { capture } from "./capture.ts";
import { browserUnavailable, isBrowserGone, pageCrashed, pageTimeout } from "./failures.ts";
import { BrowserGuard } from "./guard.ts";
import { Tab } from "./tab.ts";
import { TabQueue } from "./tab-queue.ts";
import { visit } from "./visit.ts";

/** What the service needs to come by a browser. */
export interface BrowserServiceOptions {
  /** A browser that runs, new or found again. */
  readonly launch: () => Promise<Browser>;
  readonly limits: PageLimits;
  /** The text that `scripts/build-block-lists.mjs` writes. */
  readonly blockLists: string;
}

/** A browser that runs, and a page kept ready for the next request. */
interface LiveBrowser {
  readonly browser: Browser;
  readonly guard: BrowserGuard;
  readonly userAgent: string;
  spare: Promise<Tab> | null;
}

/** The counts that tests and operators look at. */
export interface BrowserCounts {
  readonly open: number;
  readonly mostOpen: number;
  readonly launches: number;
}

const CLOSE_MS = 3_000;

/** Loads pages in one warm browser: a tab for each request, a bounded number at a time, and another browser when this one dies. */
export class BrowserService {
  readonly #options: BrowserServiceOptions;
  readonly #queue: TabQueue;
  readonly #captures = new Map<string, Promise<CaptureOutcome>>();
  #live: Promise<LiveBrowser> | null = null;
  #launches = 0;
  #blockLists: BlockLists | null = null;

  constructor(options: BrowserServiceOptions) {
    this.#options = options;
    this.#queue = new TabQueue(options.limits);
  }

  get counts(): BrowserCounts {
    return { open: this.#queue.open, mostOpen: this.#queue.mostOpen, launches: this.#launches };
  }

  /** Captures a page; equal requests at one moment share one capture. Throws GatewayError. */
  capture(request: CaptureRequest): Promise<CaptureOutcome> {
    const key = JSON.stringify(request);
    const running = this.#captures.get(key);
    if (running !== undefined) return running;
    const { limits } = this.#options;
    const started = this.#inTab(limits.totalMs + request.delay * 1_000, (tab, userAgent) =>
      capture(tab, request, { limits, userAgent, blockLists: () => this.#lists() }),
    ).finally(() => this.#captures.delete(key));
    this.#captures.set(key, started);
    return started;
  }

  /** Loads a page and tells what it is made of. Throws GatewayError. */
  visit(request: VisitRequest): Promise<VisitOutcome> {
    const { limits } = this.#options;
    return this.#inTab(limits.totalMs, (tab) => visit(tab, request, limits));
  }

  #lists(): BlockLists {
    this.#blockLists ??= readBlockLists(this.#options.blockLists);
    return this.#blockLists;
  }

  #inTab<T>(totalMs: number, work: (tab: Tab, userAgent: string) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      try {
        return await this.#attempt(totalMs, work);
      } catch (error) {
        if (!isBrowserGone(error)) throw error;
      }
      try {
        return await this.#attempt(totalMs, work);
      } catch (error) {
        throw isBrowserGone(error) ? pageCrashed(error) : error;
      }
    });
  }

  async #attempt<T>(totalMs: number, work: (tab: Tab, userAgent: string) => Promise<T>): Promise<T> {
    const live = await this.#browser();
    const tab = await this.#takeTab(live);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(pageTimeout()), totalMs);
    });
    let leave = () => {};
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(new Error("browser has been closed"));
    });
    gone.catch(() => undefined);
    live.browser.on("disconnected", leave);
    try {
      return await Promise.race([work(tab, live.userAgent), tab.crashed, gone, late]);
    } finally {
      clearTimeout(timer);
      live.browser.off("disconnected", leave);
      // A tab that does not close keeps its place in the queue no longer than this; the browser is thrown away then.
      if (!(await settles(tab.close(), CLOSE_MS))) await this.#discard(live);
      else this.#prepareSpare(live);
    }
  }

  #browser(): Promise<LiveBrowser> {
    this.#live ??= this.#start().catch((error: unknown) => {
      this.#live = null;
      throw browserUnavailable(error);
    });
    return this.#live;
  }

  async #start(): Promise<LiveBrowser> {
    const { launch, limits } = this.#options;
    this.#launches++;
    const browser = await launch();
    const guard = await BrowserGuard.install(browser, { privateHosts: limits.privateHosts });
    const userAgent = (await browser.userAgent()).replace("HeadlessChrome", "Chrome");
    browser.once("disconnected", () => {
      this.#live = null;
    });
    // After a pause this may be a browser that still has pages of an earlier life.
    await Promise.all(browser.browserContexts().map((context) => context.close().catch(() => undefined)));
    return { browser, guard, userAgent, spare: null };
  }

  #takeTab(live: LiveBrowser): Promise<Tab> {
    const { spare } = live;
    live.spare = null;
    return spare ?? Tab.open(live.browser, live.guard, this.#options.limits);
  }

  /** Opens the next request's page ahead, where there is room for it beside those in use. */
  #prepareSpare(live: LiveBrowser): void {
    if (live.spare !== null || !live.browser.isConnected() || this.#queue.open > this.#options.limits.tabs)
      return;
    const spare = Tab.open(live.browser, live.guard, this.#options.limits);
    live.spare = spare;
    spare.catch(() => {
      if (live.spare === spare) live.spare = null;
    });
  }

  async #discard(live: LiveBrowser): Promise<void> {
    this.#live = null;
    await settles(live.browser.close(), CLOSE_MS);
  }
}

/** Whether work ends, well or badly, within `ms`. */
async function settles(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}
