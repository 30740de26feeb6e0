import type { ConnectionTransport } from "@cloudflare/puppeteer";

/** A browser that opens pages, on which nothing can be loaded; `sent` has its commands. */
export class PageTransport implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly sent: string[] = [];
  readonly #stuck: string;
  #pages = 0;

  constructor(stuck = "none") {
    this.#stuck = stuck;
  }

  send(message: string): void {
    const { id, method, sessionId }: { id: number; method: string; sessionId?: string } = JSON.parse(message);
    this.sent.push(method);
    if (method === this.#stuck) return;
    const page = sessionId?.startsWith("page") ? sessionId : `page${this.#pages + 1}`;
    const results: Record<string, unknown> = {
      "Target.getBrowserContexts": { browserContextIds: [] },
      "Target.createBrowserContext": { browserContextId: `context of ${page}` },
      "Target.attachToTarget": { sessionId: "browser" },
      "Target.createTarget": { targetId: page },
      "Browser.getVersion": { product: "HeadlessChrome/1", userAgent: "test" },
      "Page.getFrameTree": { frameTree: { frame: { id: page, loaderId: "l", url: "about:blank" } } },
      "Page.navigate": { frameId: page, errorText: "net::ERR_NAME_NOT_RESOLVED" },
      "Runtime.evaluate": { result: { type: "number", value: 1 } },
    };
    if (method === "Target.setDiscoverTargets") this.#appears("browser", "browser");
    if (method === "Target.attachToTarget") this.#attached("browser", "browser");
    if (method === "Target.createTarget") {
      this.#pages++;
      this.#appears(page, "page");
      this.#attached(page, "page");
    }
    this.say({ id, sessionId, result: results[method] ?? {} });
  }

  close(): void {
    this.onclose?.();
  }

  #info(targetId: string, type: string): object {
    const context = type === "page" ? { browserContextId: `context of ${targetId}` } : {};
    return { targetId, type, title: "", url: "about:blank", attached: true, ...context };
  }

  #appears(targetId: string, type: string): void {
    this.say({ method: "Target.targetCreated", params: { targetInfo: this.#info(targetId, type) } });
  }

  #attached(targetId: string, type: string): void {
    const params = {
      sessionId: targetId,
      targetInfo: this.#info(targetId, type),
      waitingForDebugger: false,
    };
    this.say({ method: "Target.attachedToTarget", params });
  }

  /** Sends a message of the browser. */
  say(message: unknown): void {
    queueMicrotask(() => this.onmessage?.(JSON.stringify(message)));
  }
}
