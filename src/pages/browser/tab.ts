import type { Browser, BrowserContext, CDPSession, Page } from "@cloudflare/puppeteer";
import type { PageLimits } from "../../platform/variables.ts";
import { forbiddenPage, pageCrashed, pageTooLarge } from "./failures.ts";
import type { BrowserGuard } from "./guard.ts";
import { MainFrame } from "./main-frame.ts";
import { TabPolicy } from "./tab-policy.ts";

/** One page, with storage and cookies that no other page sees. */
export class Tab {
  readonly page: Page;
  /** The page's DevTools session. */
  readonly session: CDPSession;
  readonly policy: TabPolicy;
  /** What the page's own frame shows. */
  readonly frame: MainFrame;
  /** Rejects when nothing can come of the page any more: it takes its process down, or goes where it may not. */
  readonly ended: Promise<never>;
  /** Settles when the page is to be taken as it is, see {@link cutShort}. */
  readonly isCutShort: Promise<true>;
  readonly #context: BrowserContext;
  readonly #guard: BrowserGuard;
  readonly #end: (reason: Error) => void;
  /** Those of the page itself, of its frames in other processes, and of its workers. */
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

  /** Opens an empty page in a browser context of its own. */
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

  /** The page took more of the machine than a page may, or its process down. */
  get doesHarm(): boolean {
    return this.#doesHarm;
  }

  /** The page is to be taken as it is. */
  get wasCutShort(): boolean {
    return this.#cut;
  }

  /**
   * Has the page taken as it is, with nothing waited for any more: it has computed for longer than it may. May come more than once.
   *
   * @param isHarm whether any client's page would have been
   */
  cutShort(isHarm: boolean): void {
    this.#cut = true;
    this.#doesHarm ||= isHarm;
    this.policy.cutShort();
    this.#cutShort(true);
  }

  /**
   * Gives a page up that does not let its process do anything else.
   *
   * @param isHarm whether any client's page would have been
   */
  abandon(reason: Error, isHarm = true): void {
    this.#blocked = true;
    this.#doesHarm ||= isHarm;
    this.#end(reason);
  }

  /** Closes the page and forgets its storage. Does not throw. */
  async close(): Promise<void> {
    // A process that is busy would take its time to notice that its page is gone.
    if (this.#blocked) this.session.send("Page.crash").catch(() => undefined);
    await this.#context.close().catch(() => undefined);
    // Not before: until then the page may make frames, which would be watched for ever.
    this.#guard.release(this.policy);
  }

  #listen(): void {
    const { page, session, policy } = this;
    this.#guard.watch(policy.mainFrame, policy);
    session.on("Page.frameAttached", ({ frameId }) => this.#guard.watch(frameId, policy));
    session.on("Page.navigatedWithinDocument", () => policy.renamed());
    this.#meter(session);
    page.on("dialog", (dialog) => {
      // Who leaves a page is not held back by it.
      const answer = dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss();
      answer.catch(() => undefined);
    });
    page.on("popup", (popup) => void popup?.close().catch(() => undefined));
    page.on("error", (error) => {
      this.#doesHarm = true;
      this.#end(pageCrashed(error));
    });
  }

  /** Counts what arrives at a page, frame or worker and what the browser tells of it, and of those that it makes. */
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

  /** The page has had its share of bytes: whatever it is loading ends, and nothing more comes. */
  #stopLoading(): void {
    for (const session of this.#sessions) {
      session.send("Network.emulateNetworkConditions", OFFLINE).catch(() => undefined);
      session.send("Page.stopLoading").catch(() => undefined);
    }
  }
}

/** No network at all. */
const OFFLINE = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };

/** The session that the library itself drives a page with: emulation and capture belong to one session. */
function sessionOf(page: Page): CDPSession {
  const session: unknown = "_client" in page && typeof page._client === "function" ? page._client() : null;
  if (isSession(session)) return session;
  throw new Error("This version of the browser library does not give access to a page's session.");
}

function isSession(value: unknown): value is CDPSession {
  return typeof value === "object" && value !== null && "send" in value && "on" in value;
}
