import { describe, expect, it } from "vitest";
import { MainFrame, NAVIGATED_AWAY } from "../../../../../src/pages/browser/tab/main-frame.ts";

/** A session whose events the test makes. */
class Session {
  readonly #listeners = new Map<unknown, ((event: unknown) => void)[]>();

  on(event: unknown, listener: (event: never) => void): this {
    const all = this.#listeners.get(event) ?? [];
    // The test sends what the protocol would.
    all.push((data) => Reflect.apply(listener, undefined, [data]));
    this.#listeners.set(event, all);
    return this;
  }

  emit(event: string, data: Record<string, unknown>): void {
    for (const listener of this.#listeners.get(event) ?? []) listener({ frameId: "main", ...data });
  }

  begin(loaderId: string): void {
    this.emit("Network.requestWillBeSent", { requestId: loaderId, loaderId, type: "Document" });
  }

  show(loaderId: string, frame: Record<string, unknown> = {}): void {
    this.emit("Page.frameNavigated", { frame: { id: "main", loaderId, ...frame } });
  }

  lifecycle(loaderId: string, name: string): void {
    this.emit("Page.lifecycleEvent", { loaderId, name });
  }
}

function frameAt(time = { now: 0 }): { session: Session; frame: MainFrame; time: { now: number } } {
  const session = new Session();
  return { session, frame: new MainFrame(session, "main", () => time.now), time };
}

describe("the main frame of a page", () => {
  it("is ready when its current document is, and ignores events of other documents", () => {
    const { session, frame } = frameAt();
    session.begin("1");
    expect([frame.documentId, frame.navigatingAwaySince]).toEqual([null, 0]);
    session.show("1");
    expect([frame.documentId, frame.navigatingAwaySince, frame.isReady("load")]).toEqual(["1", null, false]);
    session.lifecycle("1", "DOMContentLoaded");
    expect([frame.isReady("domcontentloaded"), frame.isReady("load")]).toEqual([true, false]);
    session.begin("2");
    session.show("2");
    session.lifecycle("1", "load");
    expect(frame.isReady("load")).toBe(false);
    session.lifecycle("2", "load");
    expect([frame.isReady("load"), frame.documentCount]).toEqual([true, 2]);
  });

  it("detects that the response was cut, unless the page itself stopped it", () => {
    const { session, frame } = frameAt();
    for (const [loader, errorText] of [
      ["1", "net::ERR_ABORTED"],
      ["2", "net::ERR_CONTENT_LENGTH_MISMATCH"],
    ] as const) {
      session.begin(loader);
      session.show(loader);
      expect(frame.isResponseCut).toBe(false);
      session.emit("Network.loadingFailed", { requestId: loader, errorText });
      expect(frame.isResponseCut).toBe(loader === "2");
    }
    session.begin("3");
    session.show("3");
    expect(frame.isResponseCut).toBe(false);
  });

  it("counts an immediate navigation as leaving from its announcement on", () => {
    const { session, frame } = frameAt();
    session.show("1");
    session.emit("Page.frameScheduledNavigation", { delay: 5 });
    expect(frame.navigatingAwaySince).toBeNull();
    session.emit("Page.frameScheduledNavigation", { delay: 0 });
    expect(frame.navigatingAwaySince).toBe(0);
    session.begin("2");
    session.emit("Page.frameClearedScheduledNavigation", {});
    expect(frame.navigatingAwaySince).toBe(0);
    session.show("2");
    expect(frame.navigatingAwaySince).toBeNull();
  });

  it("does not wait for an announced navigation that never begins or stays within the document", () => {
    const { session, frame, time } = frameAt();
    session.show("1");
    session.emit("Page.frameRequestedNavigation", { disposition: "currentTab" });
    time.now = 1_001;
    expect(frame.navigatingAwaySince).toBeNull();
    session.emit("Page.frameScheduledNavigation", { delay: 0 });
    session.emit("Page.navigatedWithinDocument", {});
    expect(frame.navigatingAwaySince).toBeNull();
  });

  it("stays on its document after a navigation without effect, and ignores further ones after several", () => {
    const { session, frame, time } = frameAt();
    session.show("1");
    for (const loader of ["2", "3", "4"]) {
      session.begin(loader);
      expect(frame.navigatingAwaySince).toBe(0);
      session.emit("Network.loadingFailed", { requestId: loader, errorText: "net::ERR_ABORTED" });
      expect(frame.navigatingAwaySince).toBeNull();
    }
    session.begin("5");
    expect(frame.navigatingAwaySince).toBeNull();
    // A navigation in the midst of loading breaks that off, and there is no load event any more.
    session.emit("Page.frameStoppedLoading", {});
    time.now = 1_000;
    expect(frame.isReady("load")).toBe(true);
  });

  it("states why the browser shows an error page", () => {
    const { session, frame } = frameAt();
    session.begin("1");
    session.emit("Network.loadingFailed", { requestId: "1", errorText: "net::ERR_CONNECTION_REFUSED" });
    session.show("1", { unreachableUrl: "http://example.com/" });
    expect(frame.failure).toBe("net::ERR_CONNECTION_REFUSED");
  });

  it("keeps the response of its current document, with the original headers", () => {
    const { session, frame } = frameAt();
    session.begin("1");
    session.begin("1");
    session.emit("Network.responseReceivedExtraInfo", { requestId: "1", headers: { "Set-Cookie": "a=1" } });
    session.emit("Network.responseReceived", { requestId: "1", response: { status: 404, headers: {} } });
    session.show("1");
    session.begin("2");
    session.emit("Network.responseReceived", { requestId: "2", response: { status: 204, headers: {} } });
    expect(frame.response).toMatchObject({ status: 404, headers: { "set-cookie": "a=1" } });
    expect([frame.lastResponse?.status, frame.redirects]).toEqual([204, 0]);
  });

  it("stops the work on a document as soon as the page leaves it", async () => {
    const { session, frame } = frameAt();
    session.show("1");
    let stopped = false;
    const never = frame.runWhileShown(
      (signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            stopped = true;
          });
        }),
    );
    session.begin("2");
    expect([await never, stopped]).toEqual([NAVIGATED_AWAY, true]);
    session.show("2");
    expect(await frame.runWhileShown(async () => "done")).toBe("done");
    const failing = frame.runWhileShown(async () => {
      session.show("3");
      throw new Error("the context is gone");
    });
    expect(await failing).toBe(NAVIGATED_AWAY);
    await expect(frame.runWhileShown(() => Promise.reject(new Error("ours")))).rejects.toThrow("ours");
  });
});
