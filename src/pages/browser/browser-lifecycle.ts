import type { Browser } from "@cloudflare/puppeteer";
import type { PageLimits } from "../../core/variables/variables.ts";
import { BrowserStalled, browserUnavailable } from "./failures.ts";
import { settlesWithin } from "./tab/evaluate.ts";
import { NetworkGuard } from "./tab/network-guard.ts";
import { Tab } from "./tab/tab.ts";

/** Options of the browsers' lifecycle. */
export interface BrowserLifecycleOptions {
  /** Returns a running browser, reused or new; with `forceNew` it must be new, because the last one was given up. */
  readonly launch: (forceNew: boolean) => Promise<Browser>;
  readonly limits: PageLimits;
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
export interface RunningBrowser {
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

const DEFAULT_MAX_PAGES = 300;
const CLOSE_MS = 3_000;
/**
 * Maximum time for a browser to start, and for a running one to open a page, milliseconds. The library itself waits for
 * minutes.
 */
const LAUNCH_MS = 25_000;
const OPEN_MS = 10_000;

/** Starts, replaces and ends the browser of a service, and opens and closes its pages. */
export class BrowserLifecycle {
  readonly #options: BrowserLifecycleOptions;
  readonly #replacement: BrowserReplacement;
  #browserInUse: Promise<RunningBrowser> | null = null;
  #launches = 0;
  #needsNewBrowser = false;

  constructor(options: BrowserLifecycleOptions) {
    this.#options = options;
    this.#replacement = options.replacement ?? { isRunning: false };
  }

  /** Number of browsers started so far. */
  get launches(): number {
    return this.#launches;
  }

  /** The browser in use, or a new one. Throws GatewayError 503, or BrowserStalled. */
  getBrowser(): Promise<RunningBrowser> {
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

  /**
   * Opens an empty page. Gives up a browser that does not open it in time, and throws {@link BrowserStalled}.
   *
   * @param mayUseSpare whether the spare page can be used
   */
  async openTab(running: RunningBrowser, mayUseSpare: boolean): Promise<Tab> {
    running.pageCount++;
    running.activePages++;
    this.#replaceWhenWorn(running);
    const opening = this.#takeTab(running, mayUseSpare);
    try {
      return await withStallTimeout(opening, OPEN_MS, () => {
        opening.then((tab) => tab.close()).catch(() => undefined);
      });
    } catch (error) {
      releasePage(running);
      if (error instanceof BrowserStalled) await this.#discardBrowser(running);
      throw error;
    }
  }

  /** Takes the spare page, or opens one. */
  #takeTab(running: RunningBrowser, mayUseSpare: boolean): Promise<Tab> {
    const spare = mayUseSpare ? running.spare : null;
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

  /** Closes a tab and opens a spare one. Does not throw. */
  async closeTab(running: RunningBrowser, tab: Tab): Promise<void> {
    // A tab that does not close within this time frees its place in the queue anyway; then the whole browser is
    // discarded and needs no spare.
    if (await settlesWithin(tab.close(), CLOSE_MS)) this.#prepareSpare(running);
    else await this.#discardBrowser(running);
    releasePage(running);
  }
}

/**
 * Rejects with {@link BrowserStalled} if a browser no longer responds; otherwise never settles. The spare page cannot
 * show this: a request that gets it would wait for its full timeout.
 */
export function rejectIfStalled(browser: Browser): Promise<never> {
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
