import puppeteer, { type ConnectionTransport } from "@cloudflare/puppeteer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BrowserService } from "../../../../src/pages/browser/service.ts";
import { parseVariables } from "../../../../src/platform/variables.ts";

/** A browser of which nothing comes but answers to commands; `stuck` names those that it never answers. */
class Answering implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #stuck: string;

  constructor(stuck: string) {
    this.#stuck = stuck;
  }

  send(message: string): void {
    const { id, method, sessionId }: { id: number; method: string; sessionId?: string } = JSON.parse(message);
    if (method.startsWith(this.#stuck)) return;
    const results: Record<string, unknown> = {
      "Target.getBrowserContexts": { browserContextIds: [] },
      "Target.attachToTarget": { sessionId: "browser" },
      "Browser.getVersion": { product: "HeadlessChrome/1", userAgent: "test" },
    };
    const targetInfo = { targetId: "browser", type: "browser", title: "", url: "", attached: true };
    const attached = { sessionId: "browser", targetInfo, waitingForDebugger: false };
    if (method === "Target.setDiscoverTargets")
      this.#say({ method: "Target.targetCreated", params: { targetInfo } });
    if (method === "Target.attachToTarget")
      this.#say({ method: "Target.attachedToTarget", params: attached });
    if (method === "Target.createBrowserContext")
      this.#say({ id, sessionId, error: { code: -1, message: "no room" } });
    else this.#say({ id, sessionId, result: results[method] ?? {} });
  }

  close(): void {
    this.onclose?.();
  }

  #say(message: unknown): void {
    queueMicrotask(() => this.onmessage?.(JSON.stringify(message)));
  }
}

describe("BrowserService", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const { pages: limits } = parseVariables({}, { drivers: ["sessions"] });
  const visit = { url: "https://example.com/", probes: null };

  function serviceOf(stuck: readonly string[]) {
    const launches: boolean[] = [];
    const launch = (anew: boolean) => {
      const transport = new Answering(stuck[launches.length] ?? "none");
      launches.push(anew);
      return puppeteer.connect({ transport });
    };
    return { launches, service: new BrowserService({ launch, limits, blockLists: "" }) };
  }

  it.each(["Target.createBrowserContext", "Fetch.enable"])(
    "does not wait for a browser that leaves %s unanswered: another one is asked",
    async (stuck) => {
      const { launches, service } = serviceOf([stuck, "none"]);
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("no room");
      await vi.advanceTimersByTimeAsync(20_000);
      await asked;
      expect([launches, service.counts.open]).toEqual([[false, true], 0]);
    },
  );

  it("says that there is no browser when the next one does not answer either", async () => {
    const stuck = "Target.createBrowserContext";
    const { launches, service } = serviceOf([stuck, stuck]);
    const asked = expect(service.visit(visit, "a")).rejects.toMatchObject({
      status: 503,
      code: "browser_unavailable",
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await asked;
    expect([launches, service.counts.open]).toEqual([[false, true], 0]);
  });
});
