import type { Browser } from "@cloudflare/puppeteer";
import type {
  CaptureOutcome,
  CaptureRequest,
  PageReport,
  VisitOutcome,
  VisitRequest,
} from "../../platform/page-browser.ts";
import type { PageLimits } from "../../platform/variables.ts";
import { type BlockLists, readBlockLists } from "./block-lists.ts";
import { capture } from "./capture.ts";
import { settles } from "./evaluate.ts";
import {
  BrowserStalled,
  browserUnavailable,
  isBrowserGone,
  pageBusy,
  pageCrashed,
  pageTimeout,
} from "./failures.ts";
import { BrowserGuard } from "./guard.ts";
import { losesPulse, type Patience } from "./pulse.ts";
import { Stopwatch } from "./stopwatch.ts";
import { Tab } from "./tab.ts";
import { type Keep, TabQueue } from "./tab-queue.ts";
import { visit } from "./visit.ts";

/** Options of the browser service. */
export interface BrowserServiceOptions {
  /** Returns a running browser, reused or new; with `anew` it must be new, because the last one was given up. */
  readonly launch: (anew: boolean) => Promise<Browser>;
  readonly limits: PageLimits;
  /** The text that `scripts/build-block-lists.mjs` writes. */
  readonly blockLists: string;
  /** Number of pages after which a new browser replaces the old one, because each page leaks a little. Default 300. */
  readonly pagesOfBrowser?: number;
  /** Shared by several services so that they replace their browsers one at a time. */
  readonly renewals?: Renewals;
}

/** The state of the replacement of browsers. */
export interface Renewals {
  underWay: boolean;
}

/** A running browser, with a spare page for the next request. */
interface LiveBrowser {
  readonly browser: Browser;
  readonly guard: BrowserGuard;
  readonly userAgent: string;
  spare: Promise<Tab> | null;
  /** Pages requested so far, and pages in progress. */
  pages: number;
  busy: number;
  /** Another browser has replaced this one. It closes after its last page. */
  isLeft: boolean;
}

/** Counters for tests and operators. */
export interface BrowserCounts {
  readonly open: number;
  readonly mostOpen: number;
  readonly launches: number;
}

const PAGES_OF_BROWSER = 300;
const CLOSE_MS = 3_000;
/**
 * Maximum total computing time of a page while other clients are active, milliseconds of CPU time; then the page is
 * captured as it is. A heavy page needs two or three seconds. Clients with harmful pages get less, and a smaller limit
 * without a pause.
 */
const COMPUTING_MS = 8_000;
const HARMFUL_COMPUTING_MS = 2_000;
const HARMFUL_BLOCKED = 1 / 2;
/**
 * Maximum time for a browser to start, and for a running one to open a page, milliseconds. The library itself waits for
 * minutes.
 */
const LAUNCH_MS = 25_000;
const OPEN_MS = 10_000;

/** The request that a tab is for. */
interface Place {
  readonly watch: Stopwatch;
  readonly client: string;
  readonly keep: Keep;
  /** Maximum total time of the work, milliseconds. */
  readonly totalMs: number;
}

/** The work in a tab; it also gets the browser's own user agent. */
type TabWork<T> = (tab: Tab, userAgent: string) => Promise<T>;

/**
 * Loads pages in one warm browser: one tab per request, with a maximum number of tabs at once. If the browser dies,
 * another one replaces it.
 */
export class BrowserService {
  readonly #options: BrowserServiceOptions;
  readonly #queue: TabQueue;
  /** Pending captures, by client and request including queued ones, and by request only those with a tab. */
  readonly #asked = new Map<string, Promise<CaptureOutcome>>();
  readonly #captures = new Map<string, Promise<CaptureOutcome>>();
  #live: Promise<LiveBrowser> | null = null;
  #launches = 0;
  #hasGivenUp = false;
  readonly #renewals: Renewals;
  #blockLists: BlockLists | null = null;

  constructor(options: BrowserServiceOptions) {
    this.#options = options;
    this.#queue = new TabQueue(options.limits);
    this.#renewals = options.renewals ?? { underWay: false };
  }

  get counts(): BrowserCounts {
    return { open: this.#queue.open, mostOpen: this.#queue.mostOpen, launches: this.#launches };
  }

  /**
   * Captures a page; equal concurrent requests share one capture. Throws GatewayError.
   *
   * @param client the client that the tab counts for
   */
  capture(request: CaptureRequest, client: string): Promise<CaptureOutcome> {
    const key = JSON.stringify(request);
    // A queued request waits in its own client's queue, where it may be served sooner.
    const mine = `${client}\n${key}`;
    return (
      this.#captures.get(key) ??
      shared(this.#asked, mine, () => {
        const watch = new Stopwatch();
        return this.#queue.run(client, (keep) => this.#shot(request, key, { watch, client, keep }));
      })
    );
  }

  /** Loads a page and returns its content. Throws GatewayError. */
  visit(request: VisitRequest, client: string): Promise<VisitOutcome> {
    const { limits } = this.#options;
    const watch = new Stopwatch();
    return this.#queue.run(client, (keep) =>
      this.#withRetry({ watch, client, keep, totalMs: limits.totalMs }, (tab) =>
        visit(tab, request, limits, watch),
      ),
    );
  }

  #lists(): BlockLists {
    this.#blockLists ??= readBlockLists(this.#options.blockLists);
    return this.#blockLists;
  }

  #shot(request: CaptureRequest, key: string, place: Omit<Place, "totalMs">): Promise<CaptureOutcome> {
    const { limits } = this.#options;
    const tools = { limits, blockLists: () => this.#lists() };
    return shared(this.#captures, key, () =>
      this.#withRetry({ ...place, totalMs: limits.totalMs + request.delay * 1_000 }, (tab, userAgent) =>
        capture(tab, request, { ...tools, userAgent }, place.watch),
      ),
    );
  }

  /** Runs work in a tab, and once more if the browser went away. */
  async #withRetry<T extends PageReport>(place: Place, work: TabWork<T>): Promise<T> {
    place.watch.lap("queue");
    try {
      return await this.#attempt(place, work);
    } catch (error) {
      if (!isBrowserGone(error)) throw error;
      place.watch.lap("lost");
    }
    try {
      return await this.#attempt(place, work);
    } catch (error) {
      if (error instanceof BrowserStalled) throw browserUnavailable(error);
      throw isBrowserGone(error) ? pageCrashed(error) : error;
    }
  }

  async #attempt<T extends PageReport>(place: Place, work: TabWork<T>): Promise<T> {
    const live = await this.#browser();
    place.watch.lap("browser");
    live.pages++;
    live.busy++;
    this.#renew(live);
    let tab: Tab;
    try {
      tab = await this.#openTab(live, place.client);
    } catch (error) {
      leave(live);
      throw error;
    }
    place.watch.lap("tab");
    const end = () => this.#close(live, tab).then(() => leave(live));
    try {
      const result = await this.#inTime(live, tab, place, work);
      // The result does not wait for the closing of the tab.
      place.keep(end());
      return { ...result, spent: place.watch.spent };
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Runs work in a tab, within the limits of the page, the browser and the time. */
  async #inTime<T>(live: LiveBrowser, tab: Tab, { client, totalMs }: Place, work: TabWork<T>): Promise<T> {
    let over = false;
    const { blockedMs } = this.#options.limits;
    // A page counts as harmful only if it exceeded the normal limits. If the reduced limits counted too, clients with
    // heavy pages would stay penalised for ever.
    const watch = {
      patience: () => this.#patience(client),
      onTired: (computedMs: number) => tab.cutShort(computedMs > COMPUTING_MS),
      isOver: () => over,
    };
    losesPulse(tab.session, watch).then(
      (isLost) => {
        if (isLost && !over) tab.abandon(pageBusy(), this.#patience(client).blockedMs === blockedMs);
      },
      () => undefined,
    );
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
      return await Promise.race([work(tab, live.userAgent), tab.ended, gone, late, hangs(live.browser)]);
    } finally {
      over = true;
      if (tab.doesHarm) this.#queue.penalise(client);
      clearTimeout(timer);
      live.browser.off("disconnected", leave);
    }
  }

  /** The computing limits of a client's page. Without other active clients there is no total limit. */
  #patience(client: string): Patience {
    const { blockedMs } = this.#options.limits;
    if (!this.#queue.hasOthers(client)) return { blockedMs, computingMs: Number.POSITIVE_INFINITY };
    return this.#queue.isPenalised(client)
      ? { blockedMs: blockedMs * HARMFUL_BLOCKED, computingMs: HARMFUL_COMPUTING_MS }
      : { blockedMs, computingMs: COMPUTING_MS };
  }

  /** Closes a tab and opens a spare one. Does not throw. */
  async #close(live: LiveBrowser, tab: Tab): Promise<void> {
    // A tab that does not close within this time frees its place in the queue anyway; then the whole browser is
    // discarded and needs no spare.
    if (await settles(tab.close(), CLOSE_MS)) this.#prepareSpare(live);
    else await this.#discard(live);
  }

  #browser(): Promise<LiveBrowser> {
    if (this.#live !== null) return this.#live;
    const forget = () => {
      if (this.#live === starting) this.#live = null;
    };
    const starting = this.#start(this.#hasGivenUp, forget).catch((error: unknown) => {
      forget();
      throw error instanceof BrowserStalled ? error : browserUnavailable(error);
    });
    this.#live = starting;
    return starting;
  }

  /**
   * Replaces a browser that has shown many pages, as soon as the new one runs, so that no request waits. If no new
   * browser starts, the old one stays in use.
   */
  #renew(live: LiveBrowser): void {
    const { pagesOfBrowser = PAGES_OF_BROWSER } = this.#options;
    const current = this.#live;
    if (live.pages < pagesOfBrowser || live.isLeft || this.#renewals.underWay || current === null) return;
    this.#renewals.underWay = true;
    const forget = () => {
      if (this.#live === starting) this.#live = null;
    };
    const starting = this.#start(true, forget);
    const take = async () => {
      const next = await starting;
      if (!next.browser.isConnected()) throw new Error("the browser has ended");
      // The old browser may have ended meanwhile and already have another successor.
      const old = this.#live === current ? live : next;
      if (old === live) this.#live = starting;
      old.isLeft = true;
      if (old.busy === 0) await close(old.browser);
    };
    take()
      .catch(() => {
        live.pages = 0;
      })
      .finally(() => {
        this.#renewals.underWay = false;
      });
  }

  async #start(anew: boolean, onEnd: () => void): Promise<LiveBrowser> {
    const { launch, limits } = this.#options;
    this.#launches++;
    const launching = launch(anew);
    const browser = await inTime(launching, LAUNCH_MS, () => {
      this.#hasGivenUp = true;
      launching.then(close).catch(() => undefined);
    });
    this.#hasGivenUp = false;
    browser.once("disconnected", onEnd);
    const ready = async (): Promise<LiveBrowser> => {
      const guard = await BrowserGuard.install(browser, { privateHosts: limits.privateHosts });
      const userAgent = (await browser.userAgent()).replace("HeadlessChrome", "Chrome");
      // A reused browser may still have pages from before.
      await Promise.all(browser.browserContexts().map((context) => context.close().catch(() => undefined)));
      return { browser, guard, userAgent, spare: null, pages: 0, busy: 0, isLeft: false };
    };
    const getting = ready();
    getting.catch(() => close(browser));
    return inTime(getting, OPEN_MS, () => {
      this.#hasGivenUp = true;
      void close(browser);
    });
  }

  /** Opens an empty page. Gives up a browser that does not open it in time, and throws {@link BrowserStalled}. */
  async #openTab(live: LiveBrowser, client: string): Promise<Tab> {
    const opening = this.#takeTab(live, client);
    try {
      return await inTime(opening, OPEN_MS, () => {
        opening.then((tab) => tab.close()).catch(() => undefined);
      });
    } catch (error) {
      if (error instanceof BrowserStalled) await this.#discard(live);
      throw error;
    }
  }

  /**
   * Takes the spare page, or opens one. Penalised clients do not get the spare: otherwise they would take it from
   * clients without harmful pages.
   */
  #takeTab(live: LiveBrowser, client: string): Promise<Tab> {
    const spare = this.#queue.isPenalised(client) ? null : live.spare;
    if (spare !== null) live.spare = null;
    return spare ?? Tab.open(live.browser, live.guard, this.#options.limits);
  }

  /** Opens a spare page for the next request, unless the browser is being replaced. */
  #prepareSpare(live: LiveBrowser): void {
    if (live.spare !== null || live.isLeft || !live.browser.isConnected()) return;
    const spare = Tab.open(live.browser, live.guard, this.#options.limits);
    live.spare = spare;
    spare.catch(() => {
      if (live.spare === spare) live.spare = null;
    });
  }

  /** Gives a browser up. Other requests with pages in it load them again in the next browser. */
  async #discard({ browser }: LiveBrowser): Promise<void> {
    const current = await this.#live?.catch(() => null);
    if (current?.browser === browser) this.#live = null;
    this.#hasGivenUp = true;
    await close(browser);
  }
}

/**
 * Rejects with {@link BrowserStalled} if a browser no longer responds; otherwise never settles. The spare page cannot
 * show this: a request that gets it would wait for its full timeout.
 */
function hangs(browser: Browser): Promise<never> {
  return new Promise((_, reject) => {
    inTime(browser.version(), OPEN_MS, () => {}).catch((error: unknown) => {
      if (error instanceof BrowserStalled) reject(error);
    });
  });
}

/** A page of a browser has ended, or did not open. */
function leave(live: LiveBrowser): void {
  live.busy--;
  if (live.isLeft && live.busy === 0) void close(live.browser);
}

/** Closes a browser, or disconnects from it if it does not close. Does not throw. */
async function close(browser: Browser): Promise<void> {
  if (!(await settles(browser.close(), CLOSE_MS))) await browser.disconnect().catch(() => undefined);
}

/**
 * Waits for a response of the browser.
 *
 * @param late called on a timeout
 * @throws BrowserStalled on a timeout
 */
async function inTime<T>(work: Promise<T>, ms: number, late: () => void): Promise<T> {
  if (await settles(work, ms)) return work;
  late();
  throw new BrowserStalled();
}

/** The pending work of a key, or new work. */
function shared<T>(underWay: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const running = underWay.get(key);
  if (running !== undefined) return running;
  const started = start().finally(() => underWay.delete(key));
  underWay.set(key, started);
  return started;
}
