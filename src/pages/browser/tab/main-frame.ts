import type { CDPEvents } from "@cloudflare/puppeteer";
import type { WaitUntil } from "../../../core/ports/page-browser.ts";

/** If a page announces a navigation within this many seconds, it counts as navigating away. */
const MAX_ANNOUNCED_DELAY_S = 1;
/** If an announced navigation has not begun this long after its time, it will not begin, milliseconds. */
const ANNOUNCEMENT_GRACE_MS = 1_000;
/**
 * After this many navigations without effect (for example to a mail program or a download), further ones do not count
 * as navigating away.
 */
const MAX_NAVIGATIONS_WITHOUT_EFFECT = 3;

/** The lifecycle events that mark a document as ready (DevTools protocol, `Page.lifecycleEvent`). */
const READY_EVENTS = {
  load: "load",
  domcontentloaded: "DOMContentLoaded",
  // The check for network idle happens after the load.
  networkidle0: "load",
  networkidle2: "load",
} as const satisfies Record<WaitUntil, string>;

/** A document that stopped loading this long ago without a load event will never load completely, milliseconds. */
const ABORTED_LOAD_MS = 250;

/** The result of `MainFrame.runWhileShown` if the page navigated away meanwhile. */
export const NAVIGATED_AWAY: unique symbol = Symbol("navigated away");

/** The server's response to a navigation. */
export interface DocumentResponse {
  readonly status: number;
  /** Names in lower case; several values of one name are joined by line feeds. */
  readonly headers: Readonly<Record<string, string>>;
  /** Issuer of the server's certificate; undefined without one. */
  readonly issuer: string | undefined;
}

/** The latest navigation. */
interface StartedNavigation {
  /** The loader's id, which is also the request's id. */
  readonly loader: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Number of HTTP redirects. */
  redirects: number;
}

/** The document in the frame. */
interface ShownDocument {
  /** The loader's id; unique per document. */
  readonly id: string;
  /** Not empty only for the browser's own error page. */
  readonly unreachableUrl: string;
  readonly lifecycle: Set<string>;
  /** Since when nothing of the document is loading, milliseconds since the epoch; null while it loads. */
  stoppedAt: number | null;
  isResponseCut: boolean;
}

/** The source of a page's events, such as a session. */
export interface FrameEvents {
  on<K extends keyof CDPEvents>(event: K, listener: (event: CDPEvents[K]) => void): unknown;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Tracks the main frame of a page: which document it shows, whether the document is ready, and whether it is about to
 * navigate away. It uses only events of the DevTools protocol, which the page cannot falsify. It sends no commands:
 * `page-load.ts` decides what follows from this state.
 */
export class MainFrame {
  readonly #id: string;
  readonly #now: () => number;
  #shown: ShownDocument | null = null;
  #documentCount = 0;
  #navigation: StartedNavigation | null = null;
  /** True if the latest navigation has ended. */
  #isNavigationOver = true;
  /** The raw headers of the latest navigation response, and the id of its loader. */
  #rawHeaders: { readonly loader: string; readonly headers: Record<string, string> } | null = null;
  /** The responses of the shown document and of the latest navigation, by loader id. */
  readonly #responses = new Map<string, Mutable<DocumentResponse>>();
  /** The announced navigation. */
  #announced: { readonly since: number; readonly until: number } | null = null;
  #navigationsWithoutEffect = 0;
  #failure = "";
  #waiting: (() => void)[] = [];

  /** @param now milliseconds since the epoch */
  constructor(session: FrameEvents, frameId: string, now: () => number = Date.now) {
    this.#id = frameId;
    this.#now = now;
    this.#listen(session);
  }

  /** The loader's id of the shown document; null if there was none since the tab was opened. */
  get documentId(): string | null {
    return this.#shown?.id ?? null;
  }

  /** Number of documents shown so far. */
  get documentCount(): number {
    return this.#documentCount;
  }

  /** Why the browser shows its own error page (`net::ERR_…`); empty if it does not. */
  get failure(): string {
    return this.#shown?.unreachableUrl ? this.#failure || "net::ERR_FAILED" : "";
  }

  /** When the document began to navigate away, milliseconds since the epoch; null if it stays. */
  get navigatingAwaySince(): number | null {
    if (this.#navigationsWithoutEffect >= MAX_NAVIGATIONS_WITHOUT_EFFECT) return null;
    if (this.#announced !== null && this.#announced.until < this.#now()) this.#announced = null;
    return (this.#isNavigationOver ? null : this.#navigation?.since) ?? this.#announced?.since ?? null;
  }

  /** Whether the response of the shown document broke off or could not be decoded, so that the document may lack parts. */
  get isResponseCut(): boolean {
    return this.#shown?.isResponseCut === true;
  }

  /** The server's response of the shown document; undefined if it came from no server. */
  get response(): DocumentResponse | undefined {
    return this.#responses.get(this.#shown?.id ?? "");
  }

  /** The server's response of the latest navigation, so far. */
  get lastResponse(): DocumentResponse | undefined {
    return this.#responses.get(this.#navigation?.loader ?? "");
  }

  /** HTTP redirects of the latest navigation. */
  get redirects(): number {
    return this.#navigation?.redirects ?? 0;
  }

  /** Whether the loading of the document was aborted: it will not become more ready. */
  get isLoadAborted(): boolean {
    if (this.#shown === null) return false;
    const { lifecycle, stoppedAt } = this.#shown;
    return stoppedAt !== null && !lifecycle.has("load") && this.#now() - stoppedAt >= ABORTED_LOAD_MS;
  }

  /** Whether the document's markup is complete; its resources may not be. */
  get isParsed(): boolean {
    return this.#shown?.lifecycle.has("DOMContentLoaded") === true;
  }

  /** Whether the document has reached the requested state, or will not become more ready. */
  isReady(waitUntil: WaitUntil): boolean {
    return this.#shown?.lifecycle.has(READY_EVENTS[waitUntil]) === true || this.isLoadAborted;
  }

  /** Resolves at the next event of the frame. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Runs work on the shown document. The work's signal aborts when the result is no longer needed.
   *
   * @returns the result of the work, or `NAVIGATED_AWAY` as soon as the page navigates to another document; then the work's
   * result is useless
   */
  async runWhileShown<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof NAVIGATED_AWAY> {
    const { documentId } = this;
    const hasNavigatedAway = () => this.documentId !== documentId || this.navigatingAwaySince !== null;
    const done = new AbortController();
    const working = work(done.signal).then(
      (value): T | typeof NAVIGATED_AWAY => (hasNavigatedAway() ? NAVIGATED_AWAY : value),
      (error: unknown): typeof NAVIGATED_AWAY => {
        if (hasNavigatedAway()) return NAVIGATED_AWAY;
        throw error;
      },
    );
    const waitForNavigation = async (): Promise<T | typeof NAVIGATED_AWAY> => {
      while (!done.signal.aborted && !hasNavigatedAway()) await this.nextChange();
      return NAVIGATED_AWAY;
    };
    try {
      return await Promise.race([working, waitForNavigation()]);
    } finally {
      done.abort();
    }
  }

  #listen(session: FrameEvents): void {
    const notify = (change: () => void) => {
      change();
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    session.on("Page.frameNavigated", ({ frame }) => {
      if (frame.id === this.#id) notify(() => this.#showDocument(frame.loaderId, frame.unreachableUrl ?? ""));
    });
    session.on("Page.lifecycleEvent", ({ frameId, loaderId, name }) => {
      if (frameId === this.#id && loaderId === this.#shown?.id)
        notify(() => this.#shown?.lifecycle.add(name));
    });
    session.on("Page.frameStartedLoading", ({ frameId }) => {
      if (frameId === this.#id && this.#shown !== null) this.#shown.stoppedAt = null;
    });
    session.on("Page.frameStoppedLoading", ({ frameId }) => {
      if (frameId !== this.#id) return;
      notify(() => {
        if (this.#shown !== null) this.#shown.stoppedAt = this.#now();
      });
    });
    session.on("Page.frameScheduledNavigation", ({ frameId, delay }) => {
      if (frameId === this.#id && delay <= MAX_ANNOUNCED_DELAY_S)
        notify(() => this.#announceNavigation(delay));
    });
    session.on("Page.frameRequestedNavigation", ({ frameId, disposition }) => {
      if (frameId === this.#id && disposition === "currentTab") notify(() => this.#announceNavigation(0));
    });
    session.on("Page.frameClearedScheduledNavigation", ({ frameId }) => {
      if (frameId === this.#id) notify(() => this.#clearAnnouncement());
    });
    session.on("Page.navigatedWithinDocument", ({ frameId }) => {
      if (frameId === this.#id) notify(() => this.#clearAnnouncement());
    });
    session.on("Network.requestWillBeSent", ({ frameId, requestId, loaderId, type }) => {
      if (frameId === this.#id && type === "Document" && requestId === loaderId) {
        notify(() => this.#startNavigation(loaderId));
      }
    });
    session.on("Network.responseReceived", ({ requestId, response }) => {
      if (requestId !== this.#navigation?.loader) return;
      const issuer = response.securityDetails?.issuer;
      const headers =
        this.#rawHeaders?.loader === requestId ? this.#rawHeaders.headers : lowerCase(response.headers);
      this.#responses.set(requestId, { status: response.status, headers, issuer });
    });
    session.on("Network.responseReceivedExtraInfo", ({ requestId, headers }) => {
      // The raw headers, including those that the browser hides from the page.
      if (requestId !== this.#navigation?.loader) return;
      this.#rawHeaders = { loader: requestId, headers: lowerCase(headers) };
      const answer = this.#responses.get(requestId);
      if (answer !== undefined) answer.headers = this.#rawHeaders.headers;
    });
    session.on("Network.loadingFailed", ({ requestId, errorText }) => {
      if (requestId === this.#navigation?.loader) notify(() => this.#failNavigation(errorText));
    });
  }

  #showDocument(id: string, unreachableUrl: string): void {
    this.#shown = { id, unreachableUrl, lifecycle: new Set(), stoppedAt: null, isResponseCut: false };
    this.#documentCount++;
    this.#isNavigationOver = true;
    for (const loader of this.#responses.keys()) if (loader !== id) this.#responses.delete(loader);
    this.#announced = null;
  }

  #announceNavigation(delay: number): void {
    const now = this.#now();
    this.#announced = {
      since: this.#announced?.since ?? now,
      until: now + delay * 1_000 + ANNOUNCEMENT_GRACE_MS,
    };
  }

  #clearAnnouncement(): void {
    this.#announced = null;
  }

  #startNavigation(loader: string): void {
    this.#isNavigationOver = false;
    // Each redirect reports the request again, with the same id.
    if (this.#navigation?.loader === loader) this.#navigation.redirects++;
    else this.#navigation = { loader, since: this.#now(), redirects: 0 };
  }

  /** A failed navigation ends with part of the document, with the browser's own error page, or without any effect. */
  #failNavigation(errorText: string): void {
    this.#failure = errorText;
    if (errorText !== "net::ERR_ABORTED") {
      if (this.#shown !== null && this.#shown.id === this.#navigation?.loader)
        this.#shown.isResponseCut = true;
      return;
    }
    this.#isNavigationOver = true;
    this.#announced = null;
    if (this.#shown !== null) this.#navigationsWithoutEffect++;
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
