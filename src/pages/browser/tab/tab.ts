import type { Browser, BrowserContext, CDPSession, Page } from "@cloudflare/puppeteer";
import type { PageLimits } from "../../../core/variables/variables.ts";
import { forbiddenPage, pageCrashed, pageTooLarge } from "../failures.ts";
import { MainFrame } from "./main-frame.ts";
import { NetworkActivity } from "./network-activity.ts";
import type { NetworkGuard } from "./network-guard.ts";
import { TabPolicy } from "./tab-policy.ts";

/** One page, with storage and cookies that no other page shares. */
export class Tab {
  readonly page: Page;
  /** The page's DevTools session. */
  readonly session: CDPSession;
  readonly policy: TabPolicy;
  /** The page's main frame. */
  readonly frame: MainFrame;
  /** The requests in flight. */
  readonly activity = new NetworkActivity();
  /**
   * Rejects if the page cannot be used any more: its process crashed, it was abandoned, or it navigated to a forbidden
   * address.
   */
  readonly whenEnded: Promise<never>;
  /** Settles when the page is to be captured as it is, see {@link cutShort}. */
  readonly whenCutShort: Promise<true>;
  readonly #context: BrowserContext;
  readonly #guard: NetworkGuard;
  readonly #end: (reason: Error) => void;
  /** The sessions of the page, of its frames in other processes, and of its workers. */
  readonly #sessions = new Set<CDPSession>();
  #isAbandoned = false;
  #isCutShort = false;
  #isHarmful = false;
  readonly #cutShort: (yes: true) => void;

  private constructor(
    context: BrowserContext,
    page: Page,
    session: CDPSession,
    mainFrame: string,
    limits: PageLimits,
    guard: NetworkGuard,
  ) {
    this.#context = context;
    this.#guard = guard;
    this.page = page;
    this.session = session;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.whenEnded = promise;
    this.#end = reject;
    const cutting = Promise.withResolvers<true>();
    this.whenCutShort = cutting.promise;
    this.#cutShort = cutting.resolve;
    this.policy = new TabPolicy(mainFrame, limits, {
      onForbiddenNavigation: () => reject(forbiddenPage()),
      onByteLimit: () => this.#stopLoading(),
      onTrafficFlood: () => this.abandon(pageTooLarge()),
      onRequestFlood: () => this.cutShort(true),
    });
    this.frame = new MainFrame(session, mainFrame);
  }

  /** Opens an empty page in its own browser context. */
  static async open(browser: Browser, guard: NetworkGuard, limits: PageLimits): Promise<Tab> {
    const context = await browser.createBrowserContext();
    guard.restrictContext(context.id);
    try {
      const page = await context.newPage();
      // The library's own count of requests: each request in flight listens to the end of all others, so the time for many
      // requests would grow with the square of their number.
      page.removeAllListeners("request");
      const session = getLibrarySession(page);
      const { frameTree } = await session.send("Page.getFrameTree");
      const tab = new Tab(context, page, session, frameTree.frame.id, limits, guard);
      tab.#listen();
      return tab;
    } catch (error) {
      await context.close().catch(() => undefined);
      throw error;
    }
  }

  /** True if the page exceeded its resource limits, or crashed its process. */
  get isHarmful(): boolean {
    return this.#isHarmful;
  }

  /** True if the page is to be captured as it is. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /**
   * Ends all waiting, because the page computed for too long or sent too many requests: the capture shows the page as it
   * is. Can be called several times.
   *
   * @param isHarm true if the page exceeded the normal limits, not only the reduced ones of a penalised client
   */
  cutShort(isHarm: boolean): void {
    this.#isCutShort = true;
    this.#isHarmful ||= isHarm;
    this.policy.markOverBudget();
    this.#cutShort(true);
  }

  /**
   * Gives up a page that blocks its process.
   *
   * @param isHarm true if the page exceeded the normal limits, not only the reduced ones of a penalised client
   */
  abandon(reason: Error, isHarm = true): void {
    this.#isAbandoned = true;
    this.#isHarmful ||= isHarm;
    this.#end(reason);
  }

  /** Closes the page and deletes its storage. Does not throw. */
  async close(): Promise<void> {
    // A busy process would take a long time to notice that its page was closed.
    if (this.#isAbandoned) this.session.send("Page.crash").catch(() => undefined);
    await this.#context.close().catch(() => undefined);
    // Release only now: before, the page may still create frames, whose entries would never be removed.
    this.#guard.removeFrames(this.policy);
  }

  #listen(): void {
    const { page, session, policy } = this;
    this.#guard.addFrame(policy.mainFrame, policy);
    session.on("Page.frameAttached", ({ frameId }) => this.#guard.addFrame(frameId, policy));
    session.on("Page.navigatedWithinDocument", () => policy.countAddressChange());
    this.#countTraffic(session);
    page.on("dialog", (dialog) => {
      // A page must not be able to block its own closing or navigation.
      const answer = dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss();
      answer.catch(() => undefined);
    });
    page.on("popup", (popup) => void popup?.close().catch(() => undefined));
    page.on("error", (error) => {
      this.#isHarmful = true;
      this.#end(pageCrashed(error));
    });
  }

  /** Counts the received bytes and the browser events of a page, frame or worker, and of all of its child targets. */
  #countTraffic(session: CDPSession): void {
    this.#sessions.add(session);
    this.activity.add(session);
    session.on("*", () => this.policy.countEvent());
    session.on("Network.dataReceived", ({ dataLength, encodedDataLength }) =>
      this.policy.countBytes(Math.max(dataLength, encodedDataLength)),
    );
    session.on("sessionattached", (child) => {
      this.policy.countTarget();
      this.#countTraffic(child);
    });
    session.on("sessiondetached", (child) => {
      this.#sessions.delete(child);
      this.activity.remove(child);
    });
  }

  /** Stops all loading, because the page has reached its limit of bytes. */
  #stopLoading(): void {
    for (const session of this.#sessions) {
      session.send("Network.emulateNetworkConditions", OFFLINE).catch(() => undefined);
      session.send("Page.stopLoading").catch(() => undefined);
    }
  }
}

const OFFLINE = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };

/** The session with which the library itself controls a page: emulation and capture must use the same session. */
function getLibrarySession(page: Page): CDPSession {
  const session: unknown = "_client" in page && typeof page._client === "function" ? page._client() : null;
  if (isSession(session)) return session;
  throw new Error("This version of the browser library does not give access to a page's session.");
}

function isSession(value: unknown): value is CDPSession {
  return typeof value === "object" && value !== null && "send" in value && "on" in value;
}
