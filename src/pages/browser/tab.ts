import type { Browser, BrowserContext, CDPSession, HTTPResponse, Page } from "@cloudflare/puppeteer";
import type { PageLimits } from "../../platform/variables.ts";
import { pageCrashed } from "./failures.ts";
import type { BrowserGuard } from "./guard.ts";
import { TabPolicy } from "./tab-policy.ts";

/** One page, with storage and cookies that no other page sees. */
export class Tab {
  readonly page: Page;
  /** The page's DevTools session. */
  readonly session: CDPSession;
  readonly policy: TabPolicy;
  /** Rejects when the page takes its process down. */
  readonly crashed: Promise<never>;
  readonly #context: BrowserContext;
  readonly #guard: BrowserGuard;
  readonly #responses: HTTPResponse[] = [];

  private constructor(
    context: BrowserContext,
    page: Page,
    session: CDPSession,
    policy: TabPolicy,
    guard: BrowserGuard,
  ) {
    this.#context = context;
    this.#guard = guard;
    this.page = page;
    this.session = session;
    this.policy = policy;
    this.crashed = new Promise((_, reject) => {
      page.on("error", (error) => reject(pageCrashed(error)));
    });
    this.crashed.catch(() => undefined);
  }

  /** Opens an empty page in a browser context of its own. */
  static async open(browser: Browser, guard: BrowserGuard, limits: PageLimits): Promise<Tab> {
    const context = await browser.createBrowserContext();
    try {
      const page = await context.newPage();
      const session = sessionOf(page);
      const { frameTree } = await session.send("Page.getFrameTree");
      const policy = new TabPolicy(frameTree.frame.id, limits);
      const tab = new Tab(context, page, session, policy, guard);
      tab.#listen();
      return tab;
    } catch (error) {
      await context.close().catch(() => undefined);
      throw error;
    }
  }

  /** The last answer to a navigation of the page itself; undefined before there is one. */
  get response(): HTTPResponse | undefined {
    return this.#responses.at(-1);
  }

  /** Closes the page and forgets its storage. Does not throw. */
  async close(): Promise<void> {
    this.#guard.release(this.policy);
    await this.#context.close().catch(() => undefined);
  }

  #listen(): void {
    const { page, session, policy } = this;
    this.#guard.watch(policy.mainFrame, policy);
    session.on("Page.frameAttached", ({ frameId }) => this.#guard.watch(frameId, policy));
    session.on("Network.dataReceived", ({ encodedDataLength }) => policy.received(encodedDataLength));
    page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
    page.on("popup", (popup) => void popup?.close().catch(() => undefined));
    page.on("response", (response) => {
      if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return;
      // Only the last one matters; a page may go on to other addresses for ever.
      this.#responses[0] = response;
    });
  }
}

/** The session that the library itself drives a page with: emulation and capture belong to one session. */
function sessionOf(page: Page): CDPSession {
  const session: unknown = "_client" in page && typeof page._client === "function" ? page._client() : null;
  if (isSession(session)) return session;
  throw new Error("This version of the browser library does not give access to a page's session.");
}

function isSession(value: unknown): value is CDPSession {
  return typeof value === "object" && value !== null && "send" in value && "on" in value;
}
