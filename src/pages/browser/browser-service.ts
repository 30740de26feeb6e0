import type { Browser } from "@cloudflare/puppeteer";
import type {
  CaptureOutcome,
  CaptureRequest,
  PageReport,
  VisitOutcome,
  VisitRequest,
} from "../../core/ports/page-browser.ts";
import type { PageLimits } from "../../core/ports/variables.ts";
import { type BlockLists, parseBlockLists } from "./block-lists.ts";
import { capture } from "./capture.ts";
import { settlesWithin } from "./evaluate.ts";
import {
  BrowserStalled,
  browserUnavailable,
  isBrowserGone,
  pageBusy,
  pageCrashed,
  pageTimeout,
} from "./failures.ts";
import { NetworkGuard } from "./network-guard.ts";
import { Stopwatch } from "./stopwatch.ts";
import { Tab } from "./tab.ts";
import { type HoldTab, TabQueue } from "./tab-queue.ts";
import { visit } from "./visit.ts";
import { type CpuBudget, watchUntilUnresponsive } from "./watchdog.ts";

/** Options of the browser service. */
export interface BrowserServiceOptions {
  /** Returns a running browser, reused or new; with `forceNew` it must be new, because the last one was given up. */
  readonly launch: (forceNew: boolean) => Promise<Browser>;
  readonly limits: PageLimits;
  /** The text that `scripts/build-block-lists.mjs` writes. */
  readonly blockLists: string;
  /** Number of pages after which a new browser replaces the old one, because each page leaks a little. Default 300. */
  readonly maxPagesPerBrowser?: number;
  /** Shared by several services so that they replace their browsers one at a time. */
  readonly replacement?: BrowserReplacement;
}

/** The state of the replacement of browsers. */
export interface BrowserReplacement {
  isRunning: boolean;
}

/** A running browser, with a spare page for the next request. */
interface RunningBrowser {
  readonly browser: Browser;
  readonly guard: NetworkGuard;
  readonly userAgent: string;
  spare: Promise<Tab> | null;
  /** Pages requested so far, and pages in progress. */
  pageCount: number;
  activePages: number;
  /** Another browser has replaced this one. It closes after its last page. */
  isReplaced: boolean;
}

/** Counters for tests and operators. */
export interface BrowserCounts {
  readonly open: number;
  readonly mostOpen: number;
  readonly launches: number;
}

const DEFAULT_MAX_PAGES = 300;
const CLOSE_MS = 3_000;
/**
 * Maximum CPU time of a page while other clients are active, milliseconds; then the capture shows the page as it is. A
 * heavy page needs two or three seconds.
 */
const MAX_CPU_MS = 8_000;
/** The same for penalised clients, and the factor on their limit of computing without a pause (`maxBlockedMs`). */
const PENALIZED_MAX_CPU_MS = 2_000;
const PENALIZED_BLOCKED_FACTOR = 1 / 2;
/**
 * Maximum time for a browser to start, and for a running one to open a page, milliseconds. The library itself waits for
 * minutes.
 */
const LAUNCH_MS = 25_000;
const OPEN_MS = 10_000;

/** A request that needs a tab. */
interface TabRequest {
  readonly stopwatch: Stopwatch;
  readonly client: string;
  readonly holdTab: HoldTab;
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
  /** Pending captures, queued ones included. Key: the client and the request. */
  readonly #capturesByClient = new Map<string, Promise<CaptureOutcome>>();
  /** Captures that have a tab. Key: the request alone, so that all clients share them. */
  readonly #runningCaptures = new Map<string, Promise<CaptureOutcome>>();
  #browserInUse: Promise<RunningBrowser> | null = null;
  #launches = 0;
  #needsNewBrowser = false;
  readonly #replacement: BrowserReplacement;
  #blockLists: BlockLists | null = null;

  constructor(options: BrowserServiceOptions) {
    this.#options = options;
    this.#queue = new TabQueue(options.limits);
    this.#replacement = options.replacement ?? { isRunning: false };
  }

  get counts(): BrowserCounts {
    return { open: this.#queue.open, mostOpen: this.#queue.mostOpen, launches: this.#launches };
  }

  /**
   * Captures a page; equal concurrent requests share one capture. Throws GatewayError.
   *
   * @param client the client whose tab limit applies
   */
  capture(request: CaptureRequest, client: string): Promise<CaptureOutcome> {
    const requestKey = JSON.stringify(request);
    // Clients do not share queued captures: the queue may serve one client sooner than the other.
    const clientRequestKey = `${client}\n${requestKey}`;
    return (
      this.#runningCaptures.get(requestKey) ??
      shareWork(this.#capturesByClient, clientRequestKey, () => {
        const stopwatch = new Stopwatch();
        return this.#queue.runInTab(client, (holdTab) =>
          this.#captureShared(request, requestKey, { stopwatch, client, holdTab }),
        );
      })
    );
  }

  /** Loads a page and returns its content. Throws GatewayError. */
  visit(request: VisitRequest, client: string): Promise<VisitOutcome> {
    const { limits } = this.#options;
    const stopwatch = new Stopwatch();
    return this.#queue.runInTab(client, (holdTab) =>
      this.#withRetry(
        { stopwatch, client, holdTab, totalMs: limits.totalMs + request.moment.delay * 1_000 },
        (tab, userAgent) => visit(tab, request, { limits, userAgent }, stopwatch),
      ),
    );
  }

  #getBlockLists(): BlockLists {
    this.#blockLists ??= parseBlockLists(this.#options.blockLists);
    return this.#blockLists;
  }

  #captureShared(
    request: CaptureRequest,
    requestKey: string,
    tabRequest: Omit<TabRequest, "totalMs">,
  ): Promise<CaptureOutcome> {
    const { limits } = this.#options;
    const tools = { limits, blockLists: () => this.#getBlockLists() };
    return shareWork(this.#runningCaptures, requestKey, () =>
      this.#withRetry({ ...tabRequest, totalMs: limits.totalMs + request.delay * 1_000 }, (tab, userAgent) =>
        capture(tab, request, { ...tools, userAgent }, tabRequest.stopwatch),
      ),
    );
  }

  /** Runs work in a tab, and once more if the browser went away. */
  async #withRetry<T extends PageReport>(request: TabRequest, work: TabWork<T>): Promise<T> {
    request.stopwatch.lap("queue");
    try {
      return await this.#attempt(request, work);
    } catch (error) {
      if (!isBrowserGone(error)) throw error;
      request.stopwatch.lap("lost");
    }
    try {
      return await this.#attempt(request, work);
    } catch (error) {
      if (error instanceof BrowserStalled) throw browserUnavailable(error);
      throw isBrowserGone(error) ? pageCrashed(error) : error;
    }
  }

  async #attempt<T extends PageReport>(request: TabRequest, work: TabWork<T>): Promise<T> {
    const running = await this.#getBrowser();
    request.stopwatch.lap("browser");
    running.pageCount++;
    running.activePages++;
    this.#replaceWhenWorn(running);
    let tab: Tab;
    try {
      tab = await this.#openTab(running, request.client);
    } catch (error) {
      releasePage(running);
      throw error;
    }
    request.stopwatch.lap("tab");
    const end = () => this.#closeTab(running, tab).then(() => releasePage(running));
    try {
      const result = await this.#runWithLimits(running, tab, request, work);
      // The result does not wait for the closing of the tab.
      request.holdTab(end());
      return { ...result, spent: request.stopwatch.timings };
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Runs work in a tab, within the limits of the page, the browser and the time. */
  async #runWithLimits<T>(
    running: RunningBrowser,
    tab: Tab,
    { client, totalMs }: TabRequest,
    work: TabWork<T>,
  ): Promise<T> {
    let isOver = false;
    const { maxBlockedMs } = this.#options.limits;
    // A page counts as harmful only if it exceeded the normal limits. If the reduced limits counted too, clients with
    // heavy pages would stay penalised for ever.
    const watchdogOptions = {
      cpuBudget: () => this.#cpuBudget(client),
      onBudgetExceeded: (computedMs: number) => tab.cutShort(computedMs > MAX_CPU_MS),
      isOver: () => isOver,
    };
    watchUntilUnresponsive(tab.session, watchdogOptions).then(
      (isStalled) => {
        if (isStalled && !isOver)
          tab.abandon(pageBusy(), this.#cpuBudget(client).maxBlockedMs === maxBlockedMs);
      },
      () => undefined,
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timedOut = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(pageTimeout()), totalMs);
    });
    let rejectDisconnected = () => {};
    const disconnected = new Promise<never>((_, reject) => {
      rejectDisconnected = () => reject(new Error("browser has been closed"));
    });
    disconnected.catch(() => undefined);
    running.browser.on("disconnected", rejectDisconnected);
    try {
      return await Promise.race([
        work(tab, running.userAgent),
        tab.whenEnded,
        disconnected,
        timedOut,
        rejectIfStalled(running.browser),
      ]);
    } finally {
      isOver = true;
      if (tab.isHarmful) this.#queue.penalize(client);
      clearTimeout(timer);
      running.browser.off("disconnected", rejectDisconnected);
    }
  }

  /** The computing limits of a client's page. Without other active clients there is no total limit. */
  #cpuBudget(client: string): CpuBudget {
    const { maxBlockedMs } = this.#options.limits;
    if (!this.#queue.hasOtherClients(client)) return { maxBlockedMs, maxTotalMs: Number.POSITIVE_INFINITY };
    return this.#queue.isPenalized(client)
      ? { maxBlockedMs: maxBlockedMs * PENALIZED_BLOCKED_FACTOR, maxTotalMs: PENALIZED_MAX_CPU_MS }
      : { maxBlockedMs, maxTotalMs: MAX_CPU_MS };
  }

  /** Closes a tab and opens a spare one. Does not throw. */
  async #closeTab(running: RunningBrowser, tab: Tab): Promise<void> {
    // A tab that does not close within this time frees its place in the queue anyway; then the whole browser is
    // discarded and needs no spare.
    if (await settlesWithin(tab.close(), CLOSE_MS)) this.#prepareSpare(running);
    else await this.#discardBrowser(running);
  }

  #getBrowser(): Promise<RunningBrowser> {
    if (this.#browserInUse !== null) return this.#browserInUse;
    const forget = () => {
      if (this.#browserInUse === starting) this.#browserInUse = null;
    };
    const starting = this.#startBrowser(this.#needsNewBrowser, forget).catch((error: unknown) => {
      forget();
      throw error instanceof BrowserStalled ? error : browserUnavailable(error);
    });
    this.#browserInUse = starting;
    return starting;
  }

  /**
   * Replaces a browser that has shown many pages, as soon as the new one runs, so that no request waits. If no new
   * browser starts, the old one stays in use.
   */
  #replaceWhenWorn(running: RunningBrowser): void {
    const { maxPagesPerBrowser = DEFAULT_MAX_PAGES } = this.#options;
    const current = this.#browserInUse;
    if (
      running.pageCount < maxPagesPerBrowser ||
      running.isReplaced ||
      this.#replacement.isRunning ||
      current === null
    )
      return;
    this.#replacement.isRunning = true;
    const forget = () => {
      if (this.#browserInUse === starting) this.#browserInUse = null;
    };
    const starting = this.#startBrowser(true, forget);
    const replace = async () => {
      const next = await starting;
      if (!next.browser.isConnected()) throw new Error("the browser has ended");
      // The old browser may have ended meanwhile and already have another successor.
      const old = this.#browserInUse === current ? running : next;
      if (old === running) this.#browserInUse = starting;
      old.isReplaced = true;
      if (old.activePages === 0) await closeBrowser(old.browser);
    };
    replace()
      .catch(() => {
        running.pageCount = 0;
      })
      .finally(() => {
        this.#replacement.isRunning = false;
      });
  }

  async #startBrowser(forceNew: boolean, onEnd: () => void): Promise<RunningBrowser> {
    const { launch, limits } = this.#options;
    this.#launches++;
    const launching = launch(forceNew);
    const browser = await withStallTimeout(launching, LAUNCH_MS, () => {
      this.#needsNewBrowser = true;
      launching.then(closeBrowser).catch(() => undefined);
    });
    this.#needsNewBrowser = false;
    browser.once("disconnected", onEnd);
    const ready = async (): Promise<RunningBrowser> => {
      const guard = await NetworkGuard.install(browser, { privateHosts: limits.privateHosts });
      const userAgent = (await browser.userAgent()).replace("HeadlessChrome", "Chrome");
      // A reused browser may still have pages from before.
      await Promise.all(browser.browserContexts().map((context) => context.close().catch(() => undefined)));
      return { browser, guard, userAgent, spare: null, pageCount: 0, activePages: 0, isReplaced: false };
    };
    const preparing = ready();
    preparing.catch(() => closeBrowser(browser));
    return withStallTimeout(preparing, OPEN_MS, () => {
      this.#needsNewBrowser = true;
      void closeBrowser(browser);
    });
  }

  /** Opens an empty page. Gives up a browser that does not open it in time, and throws {@link BrowserStalled}. */
  async #openTab(running: RunningBrowser, client: string): Promise<Tab> {
    const opening = this.#takeTab(running, client);
    try {
      return await withStallTimeout(opening, OPEN_MS, () => {
        opening.then((tab) => tab.close()).catch(() => undefined);
      });
    } catch (error) {
      if (error instanceof BrowserStalled) await this.#discardBrowser(running);
      throw error;
    }
  }

  /**
   * Takes the spare page, or opens one. Penalised clients do not get the spare: otherwise they would take it from
   * clients without harmful pages.
   */
  #takeTab(running: RunningBrowser, client: string): Promise<Tab> {
    const spare = this.#queue.isPenalized(client) ? null : running.spare;
    if (spare !== null) running.spare = null;
    return spare ?? Tab.open(running.browser, running.guard, this.#options.limits);
  }

  /** Opens a spare page for the next request, unless the browser is being replaced. */
  #prepareSpare(running: RunningBrowser): void {
    if (running.spare !== null || running.isReplaced || !running.browser.isConnected()) return;
    const spare = Tab.open(running.browser, running.guard, this.#options.limits);
    running.spare = spare;
    spare.catch(() => {
      if (running.spare === spare) running.spare = null;
    });
  }

  /** Gives a browser up. Other requests with pages in it load them again in the next browser. */
  async #discardBrowser({ browser }: RunningBrowser): Promise<void> {
    const current = await this.#browserInUse?.catch(() => null);
    if (current?.browser === browser) this.#browserInUse = null;
    this.#needsNewBrowser = true;
    await closeBrowser(browser);
  }
}

/**
 * Rejects with {@link BrowserStalled} if a browser no longer responds; otherwise never settles. The spare page cannot
 * show this: a request that gets it would wait for its full timeout.
 */
function rejectIfStalled(browser: Browser): Promise<never> {
  return new Promise((_, reject) => {
    withStallTimeout(browser.version(), OPEN_MS, () => {}).catch((error: unknown) => {
      if (error instanceof BrowserStalled) reject(error);
    });
  });
}

/** A page of a browser has ended, or did not open. */
function releasePage(running: RunningBrowser): void {
  running.activePages--;
  if (running.isReplaced && running.activePages === 0) void closeBrowser(running.browser);
}

/** Closes a browser, or disconnects from it if it does not close. Does not throw. */
async function closeBrowser(browser: Browser): Promise<void> {
  if (!(await settlesWithin(browser.close(), CLOSE_MS))) await browser.disconnect().catch(() => undefined);
}

/**
 * Waits for a response of the browser.
 *
 * @param onTimeout called on a timeout
 * @throws BrowserStalled on a timeout
 */
async function withStallTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => void): Promise<T> {
  if (await settlesWithin(work, ms)) return work;
  onTimeout();
  throw new BrowserStalled();
}

/** The pending work of a key, or new work. */
function shareWork<T>(pending: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const existing = pending.get(key);
  if (existing !== undefined) return existing;
  const started = start().finally(() => pending.delete(key));
  pending.set(key, started);
  return started;
}
