import type { Browser, BrowserContext, CDPSession, Page } from "@cloudflare/puppeteer";
import type { PageLimits } from "../../platform/variables.ts";
import { forbiddenPage, pageCrashed, pageTooLarge } from "./failures.ts";
import type { BrowserGuard } from "./guard.ts";
import { MainFrame } from "./main-frame.ts";
import { TabPolicy } from "./tab-policy.ts";

/** One page, with storage and cookies that no other page shares. */
export class Tab {
  readonly page: Page;
  /** The page's DevTools session. */
  readonly session: CDPSession;
  readonly policy: TabPolicy;
  /** The page's main frame. */
  readonly frame: MainFrame;
  /**
   * Rejects if the page cannot be used any more: its process crashed, it was abandoned, or it navigated to a forbidden
   * address.
   */
  readonly ended: Promise<never>;
  /** Settles when the page is to be captured as it is, see {@link cutShort}. */
  readonly isCutShort: Promise<true>;
  readonly #context: BrowserContext;
  readonly #guard: BrowserGuard;
  readonly #end: (reason: Error) => void;
  /** The sessions of the page, of its frames in other processes, and of its workers. */
  readonly #sessions = new Set<CDPSession>();
  #blocked = false;
  #cut = false;
  #doesHarm = false;
  readonly #cutShort: (yes: true) => void;

  private constructor(
    context: BrowserContext,
    page: Page,
    session: CDPSession,
    mainFrame: string,
    limits: PageLimits,
    guard: BrowserGuard,
  ) {
    this.#context = context;
    this.#guard = guard;
    this.page = page;
    this.session = session;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.ended = promise;
    this.#end = reject;
    const cutting = Promise.withResolvers<true>();
    this.isCutShort = cutting.promise;
    this.#cutShort = cutting.resolve;
    this.policy = new TabPolicy(mainFrame, limits, {
      forbidden: () => reject(forbiddenPage()),
      full: () => this.#stopLoading(),
      flooded: () => this.abandon(pageTooLarge()),
      insistent: () => this.cutShort(true),
    });
    this.frame = new MainFrame(session, mainFrame);
  }

  /** Opens an empty page in its own browser context. */
  static async open(browser: Browser, guard: BrowserGuard, limits: PageLimits): Promise<Tab> {
    const context = await browser.createBrowserContext();
    guard.confine(context.id);
    try {
      const page = await context.newPage();
      const session = sessionOf(page);
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
  get doesHarm(): boolean {
    return this.#doesHarm;
  }

  /** True if the page is to be captured as it is. */
  get wasCutShort(): boolean {
    return this.#cut;
  }

  /**
   * Ends all waiting, because the page has computed for too long: it is captured as it is. Can be called several times.
   *
   * @param isHarm whether any client's page would have been cut short
   */
  cutShort(isHarm: boolean): void {
    this.#cut = true;
    this.#doesHarm ||= isHarm;
    this.policy.cutShort();
    this.#cutShort(true);
  }

  /**
   * Gives up a page that blocks its process.
   *
   * @param isHarm whether any client's page would have been given up
   */
  abandon(reason: Error, isHarm = true): void {
    this.#blocked = true;
    this.#doesHarm ||= isHarm;
    this.#end(reason);
  }

  /** Closes the page and deletes its storage. Does not throw. */
  async close(): Promise<void> {
    // A busy process would take a long time to notice that its page was closed.
    if (this.#blocked) this.session.send("Page.crash").catch(() => undefined);
    await this.#context.close().catch(() => undefined);
    // Release only now: before, the page may still create frames, whose entries would never be removed.
    this.#guard.release(this.policy);
  }

  #listen(): void {
    const { page, session, policy } = this;
    this.#guard.watch(policy.mainFrame, policy);
    session.on("Page.frameAttached", ({ frameId }) => this.#guard.watch(frameId, policy));
    session.on("Page.navigatedWithinDocument", () => policy.renamed());
    this.#meter(session);
    page.on("dialog", (dialog) => {
      // A page must not prevent that it is left.
      const answer = dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss();
      answer.catch(() => undefined);
    });
    page.on("popup", (popup) => void popup?.close().catch(() => undefined));
    page.on("error", (error) => {
      this.#doesHarm = true;
      this.#end(pageCrashed(error));
    });
  }

  /** Counts the received bytes and the browser events of a page, frame or worker, and of all of its child targets. */
  #meter(session: CDPSession): void {
    this.#sessions.add(session);
    session.on("*", () => this.policy.told());
    session.on("Network.dataReceived", ({ dataLength, encodedDataLength }) =>
      this.policy.received(Math.max(dataLength, encodedDataLength)),
    );
    session.on("sessionattached", (child) => {
      this.policy.grew();
      this.#meter(child);
    });
    session.on("sessiondetached", (child) => this.#sessions.delete(child));
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
function sessionOf(page: Page): CDPSession {
  const session: unknown = "_client" in page && typeof page._client === "function" ? page._client() : null;
  if (isSession(session)) return session;
  throw new Error("This version of the browser library does not give access to a page's session.");
}

function isSession(value: unknown): value is CDPSession {
  return typeof value === "object" && value !== null && "send" in value && "on" in value;
}
