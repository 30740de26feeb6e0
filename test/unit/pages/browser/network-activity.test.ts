import { expect, it } from "vitest";
import type { FrameEvents } from "../../../../src/pages/browser/main-frame.ts";
import { NetworkActivity } from "../../../../src/pages/browser/network-activity.ts";

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
