import type { CDPEvents } from "@cloudflare/puppeteer";
import type { WaitUntil } from "../../platform/page-browser.ts";

/** A page that says it will go on within so many seconds is about to leave. */
const SOON_S = 1;
/** An announced navigation that has not begun so long after its time will not begin, milliseconds. */
const LATE_MS = 1_000;
/** Navigations without effect, such as to a mail program or a download, after which further ones no longer count as leaving. */
const IDLE_DEPARTURES = 3;

/** Lifecycle events of a document that tell that it is ready (DevTools protocol, `Page.lifecycleEvent`). */
const READY = {
  load: "load",
  domcontentloaded: "DOMContentLoaded",
  // The network's rest is looked for after the load.
  networkidle0: "load",
  networkidle2: "load",
} as const satisfies Record<WaitUntil, string>;

/** A document that has stopped loading so long ago without being loaded will not be, milliseconds. */
const BROKEN_OFF_MS = 250;

/** What `MainFrame.whileStaying` gives when the page went on meanwhile. */
export const LEFT: unique symbol = Symbol("left");

/** What a server answered to a navigation. */
export interface DocumentAnswer {
  readonly status: number;
  /** Names in lower case; several values of one name are joined by line ends. */
  readonly headers: Readonly<Record<string, string>>;
  /** Who issued the server's certificate; undefined without one. */
  readonly issuer: string | undefined;
}

/** The navigation that began last. */
interface Begun {
  /** The loader's id, which is the request's too. */
  readonly loader: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Redirects of the server. */
  redirects: number;
}

/** The document that a frame shows. */
interface Shown {
  /** The loader's id, which a document does not share with any other. */
  readonly id: string;
  /** Empty but for the browser's own error page. */
  readonly unreachableUrl: string;
  readonly lifecycle: Set<string>;
  /** Milliseconds since the epoch since when nothing of it is being loaded any more; null: it is. */
  stoppedAt: number | null;
}

/** What tells of a page's events; a session does. */
export interface FrameEvents {
  on<K extends keyof CDPEvents>(event: K, listener: (event: CDPEvents[K]) => void): unknown;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Follows what becomes of a page's own frame: which document it shows, whether that is ready, and whether it is about to be left for another. It
 * goes by the protocol's events alone, which the page cannot falsify.
 */
export class MainFrame {
  readonly #id: string;
  readonly #now: () => number;
  #shown: Shown | null = null;
  #documents = 0;
  #begun: Begun | null = null;
  /** The navigation that began last is over. */
  #isOver = true;
  /** By loader's id: of what is shown, and of what has begun. */
  #raw: { readonly loader: string; readonly headers: Record<string, string> } | null = null;
  readonly #answers = new Map<string, Mutable<DocumentAnswer>>();
  /** The navigation that was announced. */
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

  /** The loader's id of the document that is shown; null: none since the tab was opened. */
  get document(): string | null {
    return this.#shown?.id ?? null;
  }

  /** How many documents have been shown, one after the other. */
  get documents(): number {
    return this.#documents;
  }

  /** Why the browser shows a page of its own instead of what it was to load (`net::ERR_…`); empty: it does not. */
  get failure(): string {
    return this.#shown?.unreachableUrl ? this.#failure || "net::ERR_FAILED" : "";
  }

  /** Milliseconds since the epoch at which the document began to be left for another one; null: it stays. */
  get leavingSince(): number | null {
    if (this.#withoutEffect >= IDLE_DEPARTURES) return null;
    if (this.#announced !== null && this.#announced.until < this.#now()) this.#announced = null;
    return (this.#isOver ? null : this.#begun?.since) ?? this.#announced?.since ?? null;
  }

  /** What the document that is shown was answered with; undefined for one that comes from no server. */
  get answer(): DocumentAnswer | undefined {
    return this.#answers.get(this.#shown?.id ?? "");
  }

  /** What the navigation that began last was answered with, so far. */
  get lastAnswer(): DocumentAnswer | undefined {
    return this.#answers.get(this.#begun?.loader ?? "");
  }

  /** Redirects of the server in the navigation that began last. */
  get redirects(): number {
    return this.#begun?.redirects ?? 0;
  }

  /** Whether the loading of the document was broken off: it will not be any readier than it is. */
  get isBrokenOff(): boolean {
    if (this.#shown === null) return false;
    const { lifecycle, stoppedAt } = this.#shown;
    return stoppedAt !== null && !lifecycle.has("load") && this.#now() - stoppedAt >= BROKEN_OFF_MS;
  }

  /** Whether all of the document's markup is there; what it loads may not be. */
  get isParsed(): boolean {
    return this.#shown?.lifecycle.has("DOMContentLoaded") === true;
  }

  /** Whether the document is as ready as it is waited for, or will not be any readier. */
  isReady(waitUntil: WaitUntil): boolean {
    return this.#shown?.lifecycle.has(READY[waitUntil]) === true || this.isBrokenOff;
  }

  /** Resolves as soon as anything has happened to the frame. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Does work on the document that is shown. The work's signal says when it is no longer wanted.
   *
   * @returns what the work returns, or `LEFT` as soon as the page leaves for another document: what the work makes then is of no use
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
      // Headers as they came, with those that the page itself does not see.
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
    // Each hop of a redirect begins anew, under the same id.
    if (this.#begun?.loader === loader) this.#begun.redirects++;
    else this.#begun = { loader, since: this.#now(), redirects: 0 };
  }

  /** A navigation that fails gives way to an error page of the browser's own, or to nothing at all. */
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
