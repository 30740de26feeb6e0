import { expect, it, vi } from "vitest";
import type { FrameEvents } from "../../../../../src/pages/browser/tab/main-frame.ts";
import { NetworkActivity } from "../../../../../src/pages/browser/tab/network-activity.ts";

function createSession(): FrameEvents & { emit(event: string, data: object): void } {
  const listeners: (readonly [unknown, (event: never) => void])[] = [];
  return {
    on: (event: unknown, listener: (event: never) => void) => listeners.push([event, listener]),
    emit: (event: string, data: object) => {
      for (const [name, listener] of listeners)
        if (name === event) Reflect.apply(listener, undefined, [data]);
    },
  };
}

it("is quiet when no request that can end is in flight, for some time", () => {
  let now = 0;
  const activity = new NetworkActivity(() => now);
  const [page, worker] = [createSession(), createSession()];
  activity.add(page);
  activity.add(worker);
  const send = (session: typeof page, requestId: string, type: string, url = "https://a.example/") =>
    session.emit("Network.requestWillBeSent", { requestId, type, request: { url } });
  expect([activity.isBusy, activity.isQuietFor(100)]).toEqual([false, true]);
  for (const type of ["EventSource", "Ping", "Media"]) send(page, type, type);
  send(page, "data", "Image", "data:image/png,x");
  expect(activity.isBusy).toBe(false);
  send(page, "1", "Fetch");
  // A redirect reports the request again.
  send(page, "1", "Fetch");
  send(worker, "1", "Fetch");
  page.emit("Network.loadingFinished", { requestId: "1" });
  expect(activity.isBusy).toBe(true);
  worker.emit("Network.loadingFailed", { requestId: "1" });
  expect([activity.isBusy, activity.isQuietFor(100)]).toEqual([false, false]);
  now = 100;
  expect(activity.isQuietFor(100)).toBe(true);
  send(worker, "2", "Fetch");
  activity.remove(worker);
  expect(activity.isBusy).toBe(false);
});

it("is idle when few requests have no response, and nothing has changed for some time", async () => {
  vi.useFakeTimers();
  try {
    const activity = new NetworkActivity();
    const page = createSession();
    activity.add(page);
    const send = (requestId: string) =>
      page.emit("Network.requestWillBeSent", {
        ...{ requestId, type: "Fetch", request: { url: "https://a.example/" } },
      });
    const done: string[] = [];
    const { signal } = new AbortController();
    const wait = (name: string, maxUnanswered: number) =>
      void activity
        .waitUntilIdle(maxUnanswered, 500, 10_000, signal)
        .then((isIdle) => isIdle && done.push(name));
    for (const id of ["1", "2", "3"]) send(id);
    wait("none", 0);
    wait("two", 2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual([]);
    page.emit("Network.responseReceived", { requestId: "1" });
    await vi.advanceTimersByTimeAsync(400);
    send("4");
    page.emit("Network.loadingFailed", { requestId: "4" });
    await vi.advanceTimersByTimeAsync(400);
    expect(done).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(done).toEqual(["two"]);
    // Responses that have begun count as answered, even if they never end.
    for (const requestId of ["2", "3"]) page.emit("Network.responseReceived", { requestId });
    await vi.advanceTimersByTimeAsync(600);
    expect(done).toEqual(["two", "none"]);
  } finally {
    vi.useRealTimers();
  }
});

it("ends the wait for an idle network if it is aborted, or takes too long", async () => {
  const activity = new NetworkActivity();
  expect(await activity.waitUntilIdle(0, 60_000, 60_000, AbortSignal.abort())).toBe(false);
  expect(await activity.waitUntilIdle(0, 60_000, 20, new AbortController().signal)).toBe(false);
});
