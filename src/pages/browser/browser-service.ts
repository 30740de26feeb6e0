import type {
  CaptureOutcome,
  CaptureRequest,
  PageReport,
  VisitOutcome,
  VisitRequest,
} from "../../core/ports/page-browser.ts";
import { AwaitedWork } from "./awaited-work.ts";
import {
  BrowserLifecycle,
  type BrowserLifecycleOptions,
  type RunningBrowser,
  rejectIfStalled,
} from "./browser-lifecycle.ts";
import { capture } from "./capture/capture.ts";
import {
  BrowserStalled,
  browserUnavailable,
  isBrowserGone,
  pageBusy,
  pageCrashed,
  pageTimeout,
} from "./failures.ts";
import { visit } from "./page/visit.ts";
import { Stopwatch } from "./stopwatch.ts";
import { type BlockLists, parseBlockLists } from "./tab/block-lists.ts";
import type { Tab } from "./tab/tab.ts";
import { type HoldTab, TabQueue } from "./tab/tab-queue.ts";
import { type CpuBudget, watchUntilUnresponsive } from "./tab/watchdog.ts";

/** Options of the browser service. */
export interface BrowserServiceOptions extends BrowserLifecycleOptions {
  /** The text that `scripts/build-block-lists.mjs` writes. */
  readonly blockLists: string;
}

/** Counters for tests and operators. */
export interface BrowserCounts {
  readonly open: number;
  readonly mostOpen: number;
  readonly launches: number;
}

/**
 * Maximum CPU time of a page while other clients are active, milliseconds; then the capture shows the page as it is. A
 * heavy page needs two or three seconds.
 */
const MAX_CPU_MS = 8_000;
/** The same for penalised clients, and the factor on their limit of computing without a pause (`maxBlockedMs`). */
const PENALIZED_MAX_CPU_MS = 2_000;
const PENALIZED_BLOCKED_FACTOR = 1 / 2;
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
  readonly #capturesByClient = new AwaitedWork<CaptureOutcome>();
  /** Captures that have a tab. Key: the request alone, so that all clients share them. */
  readonly #runningCaptures = new AwaitedWork<CaptureOutcome>();
  readonly #lifecycle: BrowserLifecycle;
  #blockLists: BlockLists | null = null;

  constructor(options: BrowserServiceOptions) {
    this.#options = options;
    this.#queue = new TabQueue(options.limits);
    this.#lifecycle = new BrowserLifecycle(options);
  }

  get counts(): BrowserCounts {
    return { open: this.#queue.open, mostOpen: this.#queue.mostOpen, launches: this.#lifecycle.launches };
  }

  /**
   * Captures a page; equal concurrent requests share one capture. Throws GatewayError.
   *
   * @param client the client whose tab limit applies
   * @param signal aborts when no client waits for the outcome any more
   */
  capture(request: CaptureRequest, client: string, signal?: AbortSignal): Promise<CaptureOutcome> {
    const requestKey = JSON.stringify(request);
    // Clients do not share queued captures: the queue may serve one client sooner than the other.
    const clientRequestKey = `${client}\n${requestKey}`;
    return (
      this.#runningCaptures.get(requestKey) ??
      this.#capturesByClient.join(clientRequestKey, signal, (unneeded) => {
        const stopwatch = new Stopwatch();
        return this.#queue.runInTab(
          client,
          (holdTab) => this.#captureShared(request, requestKey, { stopwatch, client, holdTab }),
          unneeded,
        );
      })
    );
  }

  /** Loads a page and returns its content. Throws GatewayError. */
  visit(request: VisitRequest, client: string, signal?: AbortSignal): Promise<VisitOutcome> {
    const { limits } = this.#options;
    const stopwatch = new Stopwatch();
    const load = (holdTab: HoldTab) =>
      this.#withRetry(
        { stopwatch, client, holdTab, totalMs: limits.totalMs + request.moment.delay * 1_000 },
        (tab, userAgent) => visit(tab, request, { limits, userAgent }, stopwatch),
      );
    return this.#queue.runInTab(client, load, signal);
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
    return this.#runningCaptures.join(requestKey, undefined, () =>
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
    const running = await this.#lifecycle.getBrowser();
    request.stopwatch.lap("browser");
    // Penalised clients do not get the spare page: otherwise they would take it from clients without harmful pages.
    const tab = await this.#lifecycle.openTab(running, !this.#queue.isPenalized(request.client));
    request.stopwatch.lap("tab");
    const end = () => this.#lifecycle.closeTab(running, tab);
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
}
