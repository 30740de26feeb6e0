import type { Browser, CDPSession } from "@cloudflare/puppeteer";
import { isPublicRequestUrl, type UrlSafetyOptions } from "../../url-safety/index.ts";
import { HARDENING_SCRIPT } from "./hardening.ts";
import { mute } from "./mute.ts";
import type { TabPolicy } from "./tab-policy.ts";

/** A request that the browser holds back until it is decided on (DevTools protocol, `Fetch.requestPaused`). */
interface PausedRequest {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** What the page wants to send, as a text. */
    readonly postData?: string;
  };
}

/** The permission to reach what is not public from a page that is, and the two that it was split into. */
const LOCAL_NETWORK = ["local-network-access", "local-network", "loopback-network"];

/** The part of the DevTools connection that the guard needs; the library does not publish its type. */
interface Connection {
  on(event: "sessionattached", listener: (session: CDPSession) => void): unknown;
}

/**
 * Stands between one browser and the network. Every request of every page, frame, worker and popup passes it, each hop of a redirect
 * included, and everything that runs scripts is hardened before it runs any.
 */
export class BrowserGuard {
  readonly #session: CDPSession;
  readonly #safety: UrlSafetyOptions;
  readonly #tabs = new Map<string, TabPolicy>();

  private constructor(session: CDPSession, safety: UrlSafetyOptions) {
    this.#session = session;
    this.#safety = safety;
  }

  /** Puts a guard on a browser, once a connection. Pages opened earlier are not hardened. */
  static async install(browser: Browser, safety: UrlSafetyOptions): Promise<BrowserGuard> {
    const session = await browser.target().createCDPSession();
    const guard = new BrowserGuard(session, safety);
    session.on("Fetch.requestPaused", (event) => guard.#decide(event));
    const connection: Connection | undefined = session.connection();
    connection?.on("sessionattached", hardenSession);
    await Promise.all([
      session.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }),
      session.send("Browser.setDownloadBehavior", { behavior: "deny", eventsEnabled: false }),
    ]);
    return guard;
  }

  /**
   * Refuses a browser context downloads and the local network: what is said of a browser counts for its first one only. What a server has loaded ahead of
   * its answer (103) is not intercepted, but a page of a public address needs that permission for any other. (Older browsers do not know it.)
   */
  confine(browserContextId: string | undefined): void {
    if (browserContextId === undefined) return;
    const quietly = (work: Promise<unknown>): void => {
      work.catch(() => undefined);
    };
    const downloads = { behavior: "deny", browserContextId, eventsEnabled: false } as const;
    quietly(this.#session.send("Browser.setDownloadBehavior", downloads));
    for (const name of LOCAL_NETWORK) {
      const denied = { permission: { name }, setting: "denied", browserContextId } as const;
      quietly(this.#session.send("Browser.setPermission", denied));
    }
  }

  /** Applies a policy to the requests of a frame. */
  watch(frameId: string, policy: TabPolicy): void {
    this.#tabs.set(frameId, policy);
  }

  /** Forgets all frames of a tab. */
  release(policy: TabPolicy): void {
    for (const [frameId, of] of this.#tabs) if (of === policy) this.#tabs.delete(frameId);
  }

  #decide({ requestId, frameId, resourceType, request }: PausedRequest): void {
    const policy = this.#tabs.get(frameId);
    const isPage = resourceType === "Document" && frameId === policy?.mainFrame;
    policy?.received(request.url.length + (request.postData?.length ?? 0));
    let allowed = isPublicRequestUrl(request.url, this.#safety);
    if (isPage) policy?.navigating(allowed);
    allowed &&= !isRuleSet(resourceType, request.headers) && (policy?.admits(request.url, isPage) ?? true);
    // A page whose own navigation is aborted stays on the screen; one that is blocked gives way to the browser's error page.
    const errorReason = isPage ? "Aborted" : "BlockedByClient";
    const decision = allowed
      ? this.#session.send("Fetch.continueRequest", { requestId })
      : this.#session.send("Fetch.failRequest", { requestId, errorReason });
    // The request may be gone together with its page.
    decision.catch(() => undefined);
  }
}

/**
 * Whether a request may be for speculation rules that a header names: they would have the browser load pages past all interception. Nothing else of
 * that kind says where it comes from, but for prefetches, which nobody needs here.
 */
function isRuleSet(resourceType: string, headers: Readonly<Record<string, string>>): boolean {
  return resourceType === "Other" && Object.keys(headers).some((name) => name.toLowerCase() === "origin");
}

/**
 * Hardens a page, frame or worker at the moment that the library attaches to it. The library lets it run only after this, and
 * commands are carried out in order. What a kind of target does not know fails without harm.
 */
function hardenSession(session: CDPSession): void {
  mute(session);
  const quietly = (work: Promise<unknown>): void => {
    work.catch(() => undefined);
  };
  quietly(session.send("Runtime.evaluate", { expression: HARDENING_SCRIPT }));
  quietly(session.send("Page.addScriptToEvaluateOnNewDocument", { source: HARDENING_SCRIPT }));
  // What arrives is counted, for workers too.
  quietly(session.send("Network.enable"));
  quietly(session.send("Network.setBypassServiceWorker", { bypass: true }));
  quietly(session.send("Page.setPrerenderingAllowed", { isAllowed: false }));
}
