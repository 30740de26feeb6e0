import puppeteer, { type ConnectionTransport } from "@cloudflare/puppeteer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { BrowserService } from "../../../../src/pages/browser/browser-service.ts";
import { PLAIN_SETUP } from "../../../support/page-browser.ts";
import { PageTransport } from "../../../support/page-transport.ts";

/** The moment of a page that is read as soon as it has loaded. */
const AT_ONCE = { waitUntil: "load", waitForSelector: null, waitForText: null, settle: 0, delay: 0 } as const;

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

/** A browser that may stop to answer, and does not end. */
class Hanging extends PageTransport {
  hangs = false;

  override send(message: string): void {
    if (!this.hangs) super.send(message);
  }
}

/** A browser that ends when it has started. */
class Ending extends PageTransport {
  override send(message: string): void {
    const { id, sessionId, method }: { id: number; sessionId?: string; method: string } = JSON.parse(message);
    const browserContextIds = ["of an earlier life"];
    if (method === "Target.getBrowserContexts") this.say({ id, sessionId, result: { browserContextIds } });
    else if (method === "Target.disposeBrowserContext") this.close();
    else super.send(message);
  }
}

/** A browser that knows no interception. */
class Unguarded extends PageTransport {
  override send(message: string): void {
    const { id, sessionId, method }: { id: number; sessionId?: string; method: string } = JSON.parse(message);
    if (method === "Fetch.enable") this.say({ id, sessionId, error: { code: -1, message: "not here" } });
    else super.send(message);
  }
}

/** A browser whose pages of `a.example` compute all the time: without a pause and end, or for four seconds, until nothing has come of them. */
class Computing extends PageTransport {
  isBlocked = true;
  readonly #since = new Map<string, number>();

  override send(message: string): void {
    const {
      id,
      sessionId = "",
      method,
      params,
    }: {
      id: number;
      sessionId?: string;
      method: string;
      params?: { expression?: string; url?: string };
    } = JSON.parse(message);
    const value = (Date.now() - (this.#since.get(sessionId) ?? Date.now())) / 1_000;
    if (method === "Performance.getMetrics")
      this.say({ id, sessionId, result: { metrics: [{ name: "ProcessTime", value }] } });
    else if (params?.url?.includes("//a.")) {
      this.#since.set(sessionId, Date.now());
      if (!this.isBlocked) setTimeout(() => super.send(message), 4_000);
    } else if (!this.isBlocked || params?.expression !== "0" || !this.#since.has(sessionId))
      super.send(message);
  }
}

describe("the browser service", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const { pages: limits } = parseVariables({}, { drivers: ["sessions"] });
  const visit = { url: "https://example.com/", moment: AT_ONCE, setup: PLAIN_SETUP, probes: null };

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
    "uses another browser if one does not answer %s",
    async (stuck) => {
      const { launches, service } = serviceOf([stuck, "none"]);
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("no room");
      await vi.advanceTimersByTimeAsync(20_000);
      await asked;
      expect([launches, service.counts.open]).toEqual([[false, true], 0]);
    },
  );

  it("answers 503 browser_unavailable if the second browser does not answer either", async () => {
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

  /** What is done to a browser's contexts when a page has been asked for. */
  async function contextsOf(transport: PageTransport): Promise<string[]> {
    const launch = () => puppeteer.connect({ transport });
    const service = new BrowserService({ launch, limits, blockLists: "" });
    const asked = expect(service.visit(visit, "a")).rejects.toThrow("host name");
    await vi.advanceTimersByTimeAsync(20_000);
    await asked;
    return transport.sent.filter((method) => /BrowserContext$/.test(method));
  }

  it("does not collect the console output of pages", async () => {
    const transport = new PageTransport();
    await contextsOf(transport);
    expect(transport.sent).toContain("Page.enable");
    expect(transport.sent.filter((method) => /^(?:Runtime|Log|Console)\.enable$/.test(method))).toEqual([]);
  });

  it("prepares the next tab after the last one has closed", async () => {
    expect(await contextsOf(new PageTransport())).toEqual([
      "Target.createBrowserContext",
      "Target.disposeBrowserContext",
      "Target.createBrowserContext",
    ]);
  });

  it("denies every page access to the local network before it loads", async () => {
    const transport = new PageTransport();
    await contextsOf(transport);
    const { sent } = transport;
    const denied = sent.indexOf("Browser.setPermission");
    expect(denied).toBeGreaterThan(sent.indexOf("Target.createBrowserContext"));
    expect(denied).toBeLessThan(sent.indexOf("Target.createTarget"));
  });

  it("replaces a browser after a number of pages without delaying a request", async () => {
    const transports: PageTransport[] = [];
    const started = Promise.withResolvers<void>();
    const launches: boolean[] = [];
    const launch = async (anew: boolean) => {
      launches.push(anew);
      const transport = new PageTransport();
      transports.push(transport);
      if (anew) await started.promise;
      return puppeteer.connect({ transport });
    };
    const service = new BrowserService({ launch, limits, blockLists: "", maxPagesPerBrowser: 3 });
    const load = async () => {
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("host name");
      await vi.advanceTimersByTimeAsync(5_000);
      await asked;
    };
    const navigations = () =>
      transports.map(({ sent }) => sent.filter((method) => method === "Page.navigate").length);
    for (let page = 0; page < 5; page++) await load();
    expect([launches, navigations()]).toEqual([
      [false, true],
      [5, 0],
    ]);
    expect(transports[0]?.sent).not.toContain("Browser.close");
    started.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(transports[0]?.sent).toContain("Browser.close");
    await load();
    expect([launches.length, navigations(), service.counts.open]).toEqual([2, [5, 1], 0]);
  });

  it("replaces several browsers one after another", async () => {
    const renewals = { isRunning: false };
    const started = Promise.withResolvers<void>();
    let renewed = 0;
    const launch = async (anew: boolean) => {
      if (anew) {
        renewed++;
        await started.promise;
      }
      return puppeteer.connect({ transport: new PageTransport() });
    };
    const services = [1, 2].map(
      () =>
        new BrowserService({ launch, limits, blockLists: "", maxPagesPerBrowser: 1, replacement: renewals }),
    );
    const load = async () => {
      const asked = services.map((service) => expect(service.visit(visit, "a")).rejects.toThrow("host name"));
      await vi.advanceTimersByTimeAsync(5_000);
      await Promise.all(asked);
    };
    await load();
    await load();
    expect(renewed).toBe(1);
    started.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    // The other one's turn comes with its next page; the first is young.
    const asked = expect(services[1]?.visit(visit, "a")).rejects.toThrow("host name");
    await vi.advanceTimersByTimeAsync(5_000);
    await asked;
    expect(renewed).toBe(2);
  });

  it("keeps an old browser if no new one can be started", async () => {
    let launches = 0;
    const transport = new PageTransport();
    const launch = async (anew: boolean) => {
      launches++;
      if (anew) throw new Error("no room for another one");
      return puppeteer.connect({ transport });
    };
    const service = new BrowserService({ launch, limits, blockLists: "", maxPagesPerBrowser: 2 });
    for (let page = 0; page < 4; page++) {
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("host name");
      await vi.advanceTimersByTimeAsync(5_000);
      await asked;
    }
    // Asked for at the second page, and again after two more.
    expect([launches, transport.sent.includes("Browser.close")]).toEqual([3, false]);
  });

  it("keeps an old browser if the new one ends during its start", async () => {
    const transports: PageTransport[] = [];
    const launch = async (anew: boolean) => {
      const transport = anew ? new Ending() : new PageTransport();
      transports.push(transport);
      return puppeteer.connect({ transport });
    };
    const service = new BrowserService({ launch, limits, blockLists: "", maxPagesPerBrowser: 2 });
    for (let page = 0; page < 3; page++) {
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("host name");
      await vi.advanceTimersByTimeAsync(5_000);
      await asked;
    }
    const navigations = transports[0]?.sent.filter((method) => method === "Page.navigate").length;
    expect([transports.length, navigations]).toEqual([2, 3]);
  });

  const BUSY = "The page keeps its browser busy without a pause.";

  it.each([
    ["compute without a pause", true, BUSY],
    ["are heavy", false, expect.stringContaining("host name")],
  ])(
    "stops penalizing a client whose pages %s if only its shortened limit was exceeded",
    async (_, isBlocked, message) => {
      const transport = new Computing();
      const launch = () => puppeteer.connect({ transport });
      const service = new BrowserService({ launch, limits, blockLists: "" });
      /** Asks for a page while others are served; says what came of it, and after how many milliseconds. */
      const ask = async (client: string) => {
        const since = Date.now();
        const url = `https://${client}.example/`;
        const came = await service.visit({ ...visit, url }, client).catch((error: unknown) => error);
        return { came, ms: Date.now() - since };
      };
      const pass = async (seconds: number) => {
        for (let passed = 0; passed < seconds; passed++) {
          void ask("other");
          await vi.advanceTimersByTimeAsync(1_000);
        }
      };
      const first = ask("a");
      await pass(10);
      expect(await first).toMatchObject({ came: { message: BUSY } });
      transport.isBlocked = isBlocked;
      const second = ask("a");
      await pass(15);
      expect(await second).toMatchObject({ came: { message } });
      expect((await second).ms).toBeLessThan(limits.maxBlockedMs);
      await pass(41);
      transport.isBlocked = true;
      const third = ask("a");
      await pass(15);
      expect(await third).toMatchObject({ came: { message: BUSY } });
      expect((await third).ms).toBeGreaterThan(limits.maxBlockedMs);
    },
  );

  it("closes a browser that cannot be used", async () => {
    const transports: Unguarded[] = [];
    const launch = () => {
      const transport = new Unguarded();
      transports.push(transport);
      return puppeteer.connect({ transport });
    };
    const service = new BrowserService({ launch, limits, blockLists: "" });
    const asked = expect(service.visit(visit, "a")).rejects.toMatchObject({ code: "browser_unavailable" });
    await vi.advanceTimersByTimeAsync(5_000);
    await asked;
    expect(transports.map(({ sent }) => sent.includes("Browser.close"))).not.toContain(false);
  });

  it("loads a page in another browser if the one with a ready tab hangs", async () => {
    const transports: Hanging[] = [];
    const launch = () => {
      const transport = new Hanging();
      transports.push(transport);
      return puppeteer.connect({ transport });
    };
    const service = new BrowserService({ launch, limits, blockLists: "" });
    for (const hangs of [false, true]) {
      const [first] = transports;
      if (first !== undefined) first.hangs = hangs;
      const asked = expect(service.visit(visit, "a")).rejects.toThrow("host name");
      // Less than a page may take.
      await vi.advanceTimersByTimeAsync(limits.totalMs - 1_000);
      await asked;
    }
    expect(transports[0]?.sent.filter((method) => method === "Target.createTarget")).toHaveLength(2);
    expect(transports).toHaveLength(2);
  });

  it("opens no new tab in a browser that cannot close the last one", async () => {
    expect(await contextsOf(new PageTransport("Target.disposeBrowserContext"))).toEqual([
      "Target.createBrowserContext",
      "Target.disposeBrowserContext",
    ]);
  });
});
