import type { CDPEvents } from "@cloudflare/puppeteer";
import type { WaitUntil } from "../../platform/page-browser.ts";

/** If a page announces a navigation within this many seconds, the page counts as leaving. */
const SOON_S = 1;
/** If an announced navigation has not begun this long after its time, it will not begin, milliseconds. */
const LATE_MS = 1_000;
/**
 * After this many navigations without effect (for example to a mail program or a download), further ones do not count
 * as leaving.
 */
const IDLE_DEPARTURES = 3;

/** The lifecycle events that mark a document as ready (DevTools protocol, `Page.lifecycleEvent`). */
const READY = {
  load: "load",
  domcontentloaded: "DOMContentLoaded",
  // The check for network idle happens after the load.
  networkidle0: "load",
  networkidle2: "load",
} as const satisfies Record<WaitUntil, string>;

/** A document that stopped loading this long ago without a load event will never load completely, milliseconds. */
const BROKEN_OFF_MS = 250;

/** The result of `MainFrame.whileStaying` if the page navigated away meanwhile. */
export const LEFT: unique symbol = Symbol("left");

/** The server's response to a navigation. */
export interface DocumentAnswer {
  readonly status: number;
  /** Names in lower case; several values of one name are joined by line feeds. */
  readonly headers: Readonly<Record<string, string>>;
  /** Issuer of the server's certificate; undefined without one. */
  readonly issuer: string | undefined;
}

/** The latest navigation. */
interface Begun {
  /** The loader's id, which is also the request's id. */
  readonly loader: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Number of HTTP redirects. */
  redirects: number;
}

/** The document in the frame. */
interface Shown {
  /** The loader's id; unique per document. */
  readonly id: string;
  /** Not empty only for the browser's own error page. */
  readonly unreachableUrl: string;
  readonly lifecycle: Set<string>;
  /** Since when nothing of the document is loading, milliseconds since the epoch; null while it loads. */
  stoppedAt: number | null;
}

/** The source of a page's events, such as a session. */
export interface FrameEvents {
  on<K extends keyof CDPEvents>(event: K, listener: (event: CDPEvents[K]) => void): unknown;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Tracks the main frame of a page: which document it shows, whether the document is ready, and whether it is about to
 * navigate away. It uses only events of the DevTools protocol, which the page cannot falsify.
 */
export class MainFrame {
  readonly #id: string;
  readonly #now: () => number;
  #shown: Shown | null = null;
  #documents = 0;
  #begun: Begun | null = null;
  /** True if the latest navigation has ended. */
  #isOver = true;
  /** Raw headers by the loader's id, and below the responses of the shown document and of the latest navigation. */
  #raw: { readonly loader: string; readonly headers: Record<string, string> } | null = null;
  readonly #answers = new Map<string, Mutable<DocumentAnswer>>();
  /** The announced navigation. */
  #announced: { readonly since: number; readonly until: number } | null = null;
  #withoutEffect = 0;
  #failure = "";
  #waiting: (() => void)[] = [];

  /** @param now milliseconds since the epoch */
  constructor(session: FrameEvents, frameId: string, now: () => number = Date.now) {
    this.#id = frameId;
    this.#now = now;
    this.#listen(session);
  }

  /** The loader's id of the shown document; null if there was none since the tab was opened. */
  get document(): string | null {
    return this.#shown?.id ?? null;
  }

  /** Number of documents shown so far. */
  get documents(): number {
    return this.#documents;
  }

  /** Why the browser shows its own error page (`net::ERR_…`); empty if it does not. */
  get failure(): string {
    return this.#shown?.unreachableUrl ? this.#failure || "net::ERR_FAILED" : "";
  }

  /** When the document began to navigate away, milliseconds since the epoch; null if it stays. */
  get leavingSince(): number | null {
    if (this.#withoutEffect >= IDLE_DEPARTURES) return null;
    if (this.#announced !== null && this.#announced.until < this.#now()) this.#announced = null;
    return (this.#isOver ? null : this.#begun?.since) ?? this.#announced?.since ?? null;
  }

  /** The server's response of the shown document; undefined if it came from no server. */
  get answer(): DocumentAnswer | undefined {
    return this.#answers.get(this.#shown?.id ?? "");
  }

  /** The server's response of the latest navigation, so far. */
  get lastAnswer(): DocumentAnswer | undefined {
    return this.#answers.get(this.#begun?.loader ?? "");
  }

  /** HTTP redirects of the latest navigation. */
  get redirects(): number {
    return this.#begun?.redirects ?? 0;
  }

  /** Whether the loading of the document was aborted: it will not become more ready. */
  get isBrokenOff(): boolean {
    if (this.#shown === null) return false;
    const { lifecycle, stoppedAt } = this.#shown;
    return stoppedAt !== null && !lifecycle.has("load") && this.#now() - stoppedAt >= BROKEN_OFF_MS;
  }

  /** Whether the document's markup is complete; its resources may not be. */
  get isParsed(): boolean {
    return this.#shown?.lifecycle.has("DOMContentLoaded") === true;
  }

  /** Whether the document has reached the requested state, or will not become more ready. */
  isReady(waitUntil: WaitUntil): boolean {
    return this.#shown?.lifecycle.has(READY[waitUntil]) === true || this.isBrokenOff;
  }

  /** Resolves at the next event of the frame. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Runs work on the shown document. The work's signal aborts when the result is no longer needed.
   *
   * @returns the result of the work, or `LEFT` as soon as the page navigates to another document; then the work's
   * result is useless
   */
  async whileStaying<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LEFT> {
    const { document } = this;
    const hasLeft = () => this.document !== document || this.leavingSince !== null;
    const over = new AbortController();
    const working = work(over.signal).then(
      (value): T | typeof LEFT => (hasLeft() ? LEFT : value),
      (error: unknown): typeof LEFT => {
        if (hasLeft()) return LEFT;
        throw error;
      },
    );
    const leaving = async (): Promise<T | typeof LEFT> => {
      while (!over.signal.aborted && !hasLeft()) await this.changed();
      return LEFT;
    };
    try {
      return await Promise.race([working, leaving()]);
    } finally {
      over.abort();
    }
  }

  #listen(session: FrameEvents): void {
    const changed = (change: () => void) => {
      change();
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    session.on("Page.frameNavigated", ({ frame }) => {
      if (frame.id === this.#id) changed(() => this.#show(frame.loaderId, frame.unreachableUrl ?? ""));
    });
    session.on("Page.lifecycleEvent", ({ frameId, loaderId, name }) => {
      if (frameId === this.#id && loaderId === this.#shown?.id)
        changed(() => this.#shown?.lifecycle.add(name));
    });
    session.on("Page.frameStartedLoading", ({ frameId }) => {
      if (frameId === this.#id && this.#shown !== null) this.#shown.stoppedAt = null;
    });
    session.on("Page.frameStoppedLoading", ({ frameId }) => {
      if (frameId !== this.#id) return;
      changed(() => {
        if (this.#shown !== null) this.#shown.stoppedAt = this.#now();
      });
    });
    session.on("Page.frameScheduledNavigation", ({ frameId, delay }) => {
      if (frameId === this.#id && delay <= SOON_S) changed(() => this.#announce(delay));
    });
    session.on("Page.frameRequestedNavigation", ({ frameId, disposition }) => {
      if (frameId === this.#id && disposition === "currentTab") changed(() => this.#announce(0));
    });
    session.on("Page.frameClearedScheduledNavigation", ({ frameId }) => {
      if (frameId === this.#id) changed(() => this.#retract());
    });
    session.on("Page.navigatedWithinDocument", ({ frameId }) => {
      if (frameId === this.#id) changed(() => this.#retract());
    });
    session.on("Network.requestWillBeSent", ({ frameId, requestId, loaderId, type }) => {
      if (frameId === this.#id && type === "Document" && requestId === loaderId) {
        changed(() => this.#begin(loaderId));
      }
    });
    session.on("Network.responseReceived", ({ requestId, response }) => {
      if (requestId !== this.#begun?.loader) return;
      const issuer = response.securityDetails?.issuer;
      const headers = this.#raw?.loader === requestId ? this.#raw.headers : lowerCase(response.headers);
      this.#answers.set(requestId, { status: response.status, headers, issuer });
    });
    session.on("Network.responseReceivedExtraInfo", ({ requestId, headers }) => {
      // The raw headers, including those that the browser hides from the page.
      if (requestId !== this.#begun?.loader) return;
      this.#raw = { loader: requestId, headers: lowerCase(headers) };
      const answer = this.#answers.get(requestId);
      if (answer !== undefined) answer.headers = this.#raw.headers;
    });
    session.on("Network.loadingFailed", ({ requestId, errorText }) => {
      if (requestId === this.#begun?.loader) changed(() => this.#fail(errorText));
    });
  }

  #show(id: string, unreachableUrl: string): void {
    this.#shown = { id, unreachableUrl, lifecycle: new Set(), stoppedAt: null };
    this.#documents++;
    this.#isOver = true;
    for (const loader of this.#answers.keys()) if (loader !== id) this.#answers.delete(loader);
    this.#announced = null;
  }

  #announce(delay: number): void {
    const now = this.#now();
    this.#announced = { since: this.#announced?.since ?? now, until: now + delay * 1_000 + LATE_MS };
  }

  #retract(): void {
    this.#announced = null;
  }

  #begin(loader: string): void {
    this.#isOver = false;
    // Each redirect reports the request again, with the same id.
    if (this.#begun?.loader === loader) this.#begun.redirects++;
    else this.#begun = { loader, since: this.#now(), redirects: 0 };
  }

  /** A failed navigation ends with the browser's own error page, or without any effect. */
  #fail(errorText: string): void {
    this.#failure = errorText;
    if (errorText !== "net::ERR_ABORTED") return;
    this.#isOver = true;
    this.#announced = null;
    if (this.#shown !== null) this.#withoutEffect++;
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
