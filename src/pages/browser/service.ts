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

/** What the service needs to come by a browser. */
export interface BrowserServiceOptions {
  /** A browser that runs: found again, or new, which it has to be when the last one was given up. */
  readonly launch: (anew: boolean) => Promise<Browser>;
  readonly limits: PageLimits;
  /** The text that `scripts/build-block-lists.mjs` writes. */
  readonly blockLists: string;
  /** Pages after which another browser takes a browser's place: each page leaves a little behind. Unless given 300. */
  readonly pagesOfBrowser?: number;
  /** Shared by services whose browsers are to be renewed one after another. */
  readonly renewals?: Renewals;
}

/** Whether a browser is about to take the place of another one. */
export interface Renewals {
  underWay: boolean;
}

/** A browser that runs, and a page kept ready for the next request. */
interface LiveBrowser {
  readonly browser: Browser;
  readonly guard: BrowserGuard;
  readonly userAgent: string;
  spare: Promise<Tab> | null;
  /** Pages that it has been asked for, and those of them that are under way. */
  pages: number;
  busy: number;
  /** Another one has taken its place. It ends with its last page. */
  isLeft: boolean;
}

/** The counts that tests and operators look at. */
export interface BrowserCounts {
  readonly open: number;
  readonly mostOpen: number;
  readonly launches: number;
}

const PAGES_OF_BROWSER = 300;
const CLOSE_MS = 3_000;
/**
 * How long a page may compute in all while others are served, milliseconds of its process's time; then it is taken as it is. A heavy page needs two or
 * three seconds. Pages of clients whose pages did harm have less, and such a share of the time without a pause.
 */
const COMPUTING_MS = 8_000;
const HARMFUL_COMPUTING_MS = 2_000;
const HARMFUL_BLOCKED = 1 / 2;
/** How long a browser may take to start, and one that runs to open a page, milliseconds. The protocol's library waits for minutes. */
const LAUNCH_MS = 25_000;
const OPEN_MS = 10_000;

/** Whom a tab is for. */
interface Place {
  readonly watch: Stopwatch;
  readonly client: string;
  readonly keep: Keep;
  /** How long the work may take in all, milliseconds. */
  readonly totalMs: number;
}

/** What is done in a tab, with the browser's own user agent. */
type TabWork<T> = (tab: Tab, userAgent: string) => Promise<T>;

/** Loads pages in one warm browser: a tab for each request, a bounded number at a time, and another browser when this one dies. */
export class BrowserService {
  readonly #options: BrowserServiceOptions;
  readonly #queue: TabQueue;
  /** By client and by request: those that wait too, and those that have a tab. */
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
   * Captures a page; equal requests at one moment share one capture. Throws GatewayError.
   *
   * @param client on whose account the tab goes
   */
  capture(request: CaptureRequest, client: string): Promise<CaptureOutcome> {
    const key = JSON.stringify(request);
    // Whoever waits does so in the line of its own client, where it may come sooner.
    const mine = `${client}\n${key}`;
    return (
      this.#captures.get(key) ??
      shared(this.#asked, mine, () => {
        const watch = new Stopwatch();
        return this.#queue.run(client, (keep) => this.#shot(request, key, { watch, client, keep }));
      })
    );
  }

  /** Loads a page and tells what it is made of. Throws GatewayError. */
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

  /** Does work in a tab, and once more when the browser went away. */
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
      // Whoever waits for it need not wait for what comes after it.
      place.keep(end());
      return { ...result, spent: place.watch.spent };
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Does work in a tab, for as long as the page, the browser and the time allow. */
  async #inTime<T>(live: LiveBrowser, tab: Tab, { client, totalMs }: Place, work: TabWork<T>): Promise<T> {
    let over = false;
    const { blockedMs } = this.#options.limits;
    // A page that had less time than others, and took no more than they may, did no harm: heavy pages would keep their client where it is for ever.
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

  /** How long a client's page may compute. Alone, it may as long as it does not hold up its own tab. */
  #patience(client: string): Patience {
    const { blockedMs } = this.#options.limits;
    if (!this.#queue.hasOthers(client)) return { blockedMs, computingMs: Number.POSITIVE_INFINITY };
    return this.#queue.isPenalised(client)
      ? { blockedMs: blockedMs * HARMFUL_BLOCKED, computingMs: HARMFUL_COMPUTING_MS }
      : { blockedMs, computingMs: COMPUTING_MS };
  }

  /** Closes a tab, and opens the next one in its place. Does not throw. */
  async #close(live: LiveBrowser, tab: Tab): Promise<void> {
    // A tab that does not close keeps its place in the queue no longer than this; the browser is thrown away then, and needs no other tab.
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

  /** Has another browser take the place of one that has shown many pages, once it runs: nobody waits for it. If none can be had, the old one stays. */
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
      // The old one may have ended by itself meanwhile, and have another successor.
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
      // After a pause this may be a browser that still has pages of an earlier life.
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

  /** An empty page; a browser that does not give one in time is given up, which throws {@link BrowserStalled}. */
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

  /** The page that is kept ready is for those whose pages do no harm: others would have taken it whenever one of those comes. */
  #takeTab(live: LiveBrowser, client: string): Promise<Tab> {
    const spare = this.#queue.isPenalised(client) ? null : live.spare;
    if (spare !== null) live.spare = null;
    return spare ?? Tab.open(live.browser, live.guard, this.#options.limits);
  }

  /** Opens the next request's page ahead, in a browser that is not given up. */
  #prepareSpare(live: LiveBrowser): void {
    if (live.spare !== null || live.isLeft || !live.browser.isConnected()) return;
    const spare = Tab.open(live.browser, live.guard, this.#options.limits);
    live.spare = spare;
    spare.catch(() => {
      if (live.spare === spare) live.spare = null;
    });
  }

  /** Gives a browser up; pages that others have open in it are loaded again in the next one. */
  async #discard({ browser }: LiveBrowser): Promise<void> {
    const current = await this.#live?.catch(() => null);
    if (current?.browser === browser) this.#live = null;
    this.#hasGivenUp = true;
    await close(browser);
  }
}

/**
 * Rejects with {@link BrowserStalled} when a browser does not answer any more; never otherwise. The tab that is kept ready says nothing of that:
 * whoever got it would wait for as long as a page may take.
 */
function hangs(browser: Browser): Promise<never> {
  return new Promise((_, reject) => {
    inTime(browser.version(), OPEN_MS, () => {}).catch((error: unknown) => {
      if (error instanceof BrowserStalled) reject(error);
    });
  });
}

/** A page of a browser is over, or came to nothing. */
function leave(live: LiveBrowser): void {
  live.busy--;
  if (live.isLeft && live.busy === 0) void close(live.browser);
}

/** Ends a browser, or lets go of it when it does not even do that. Does not throw. */
async function close(browser: Browser): Promise<void> {
  if (!(await settles(browser.close(), CLOSE_MS))) await browser.disconnect().catch(() => undefined);
}

/**
 * What a browser is asked for, if it comes in time.
 *
 * @param late called when it does not
 * @throws BrowserStalled
 */
async function inTime<T>(work: Promise<T>, ms: number, late: () => void): Promise<T> {
  if (await settles(work, ms)) return work;
  late();
  throw new BrowserStalled();
}

/** The work that is under way under a key, or a new one. */
function shared<T>(underWay: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const running = underWay.get(key);
  if (running !== undefined) return running;
  const started = start().finally(() => underWay.delete(key));
  underWay.set(key, started);
  return started;
}
