import type { Browser, CDPSession } from "@cloudflare/puppeteer";
import { toBase64, toUtf8 } from "../../../core/encoding/bytes.ts";
import { isPublicRequestUrl, type UrlSafetyOptions } from "../../../core/url-safety/index.ts";
import { HARDENING_SCRIPT } from "./hardening.ts";
import { muteConsole } from "./mute-console.ts";
import type { TabPolicy } from "./tab-policy.ts";

/** A request that the browser has paused (DevTools protocol, `Fetch.requestPaused`). */
interface PausedRequest {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The request body as text. */
    readonly postData?: string;
  };
}

/** The permission for a public page to reach private addresses, and the two permissions that replaced it. */
const LOCAL_NETWORK = ["local-network-access", "local-network", "loopback-network"];

/** The headers of a document that the caller sent. */
const SENT_DOCUMENT_HEADERS = [
  { name: "content-type", value: "text/html; charset=utf-8" },
  { name: "content-security-policy", value: "sandbox allow-scripts allow-forms" },
];

/** The part of the DevTools connection that the guard needs; the library does not export its type. */
interface Connection {
  on(event: "sessionattached", listener: (session: CDPSession) => void): unknown;
}

/**
 * Filters the traffic between one browser and the network. It checks every request of every page, frame, worker and
 * popup, including each redirect. It also hardens every target that runs scripts before its first script.
 */
export class NetworkGuard {
  readonly #session: CDPSession;
  readonly #safety: UrlSafetyOptions;
  readonly #policyByFrame = new Map<string, TabPolicy>();

  private constructor(session: CDPSession, safety: UrlSafetyOptions) {
    this.#session = session;
    this.#safety = safety;
  }

  /** Installs a guard on a browser, once per connection. Pages opened earlier are not hardened. */
  static async install(browser: Browser, safety: UrlSafetyOptions): Promise<NetworkGuard> {
    const session = await browser.target().createCDPSession();
    const guard = new NetworkGuard(session, safety);
    session.on("Fetch.requestPaused", (event) => guard.#decideRequest(event));
    const connection: Connection | undefined = session.connection();
    connection?.on("sessionattached", hardenSession);
    await Promise.all([
      session.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] }),
      session.send("Browser.setDownloadBehavior", { behavior: "deny", eventsEnabled: false }),
    ]);
    return guard;
  }

  /**
   * Denies downloads and local network access to a browser context: the settings of the browser apply to its default
   * context only. Early hints (103) make the browser load resources that `Fetch` does not intercept. Without the
   * permission a public page cannot load them from private addresses. (Older browsers do not know the permission.)
   */
  restrictContext(browserContextId: string | undefined): void {
    if (browserContextId === undefined) return;
    const downloads = { behavior: "deny", browserContextId, eventsEnabled: false } as const;
    ignoreErrors(this.#session.send("Browser.setDownloadBehavior", downloads));
    for (const name of LOCAL_NETWORK) {
      const denied = { permission: { name }, setting: "denied", browserContextId } as const;
      ignoreErrors(this.#session.send("Browser.setPermission", denied));
    }
  }

  /** Applies a policy to the requests of a frame. */
  addFrame(frameId: string, policy: TabPolicy): void {
    this.#policyByFrame.set(frameId, policy);
  }

  /** Removes all frames of a tab. */
  removeFrames(policy: TabPolicy): void {
    for (const [frameId, framePolicy] of this.#policyByFrame)
      if (framePolicy === policy) this.#policyByFrame.delete(frameId);
  }

  #decideRequest({ requestId, frameId, resourceType, request }: PausedRequest): void {
    const policy = this.#policyByFrame.get(frameId);
    const isPage = resourceType === "Document" && frameId === policy?.mainFrame;
    policy?.countBytes(request.url.length + (request.postData?.length ?? 0));
    const html = isPage ? (policy?.sentDocumentFor(request.url) ?? null) : null;
    if (html !== null) {
      this.#sendDocument(requestId, html);
      return;
    }
    let allowed = isPublicRequestUrl(request.url, this.#safety);
    if (isPage) policy?.checkNavigation(allowed);
    allowed &&=
      !mayLoadSpeculationRules(resourceType, request.headers) &&
      policy?.isBlockedType(resourceType, isPage) !== true &&
      (policy?.admitRequest(request.url, isPage) ?? true);
    // If the browser aborts a page's own navigation, the page stays visible. If it blocks it, the browser's error
    // page replaces it.
    const errorReason = isPage ? "Aborted" : "BlockedByClient";
    const refuse = () => this.#session.send("Fetch.failRequest", { requestId, errorReason });
    const secrets = policy?.secrets ?? null;
    const isMainFrame = frameId === policy?.mainFrame;
    const forward = async () => {
      if (secrets === null) return this.#session.send("Fetch.continueRequest", { requestId });
      if (isPage) await secrets.admitNavigation(request.url);
      const headers = secrets.headersFor({ ...request, isMainFrame });
      return this.#session.send("Fetch.continueRequest", { requestId, headers });
    };
    allowed &&= isPage || secrets?.leaksCookies(request.url) !== true;
    const decision = allowed ? forward().catch(refuse) : refuse();
    // The request may have ended together with its page.
    decision.catch(() => undefined);
  }

  /** Answers a page's request with the document that the caller sent. Its origin is opaque: it is no page's own. */
  #sendDocument(requestId: string, html: string): void {
    const answer = this.#session.send("Fetch.fulfillRequest", {
      requestId,
      responseCode: 200,
      responseHeaders: SENT_DOCUMENT_HEADERS,
      body: toBase64(toUtf8(html)),
    });
    answer.catch(() => undefined);
  }
}

/**
 * Whether a request may load speculation rules that a header names. With them the browser would load pages without
 * interception. Other requests of this type have no `Origin` header, except prefetches, which are not needed here.
 */
function mayLoadSpeculationRules(resourceType: string, headers: Readonly<Record<string, string>>): boolean {
  return resourceType === "Other" && Object.keys(headers).some((name) => name.toLowerCase() === "origin");
}

function ignoreErrors(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

/**
 * Hardens a page, frame or worker when the library attaches to it. The library resumes the target only after these
 * commands, and the browser runs them in order. A command that a target type does not support fails without effect.
 */
function hardenSession(session: CDPSession): void {
  muteConsole(session);
  ignoreErrors(session.send("Runtime.evaluate", { expression: HARDENING_SCRIPT }));
  ignoreErrors(session.send("Page.addScriptToEvaluateOnNewDocument", { source: HARDENING_SCRIPT }));
  // Needed to count the received bytes, for workers too.
  ignoreErrors(session.send("Network.enable"));
  ignoreErrors(session.send("Network.setBypassServiceWorker", { bypass: true }));
  ignoreErrors(session.send("Page.setPrerenderingAllowed", { isAllowed: false }));
}
