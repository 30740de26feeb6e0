import { setImmediate } from "node:timers/promises";
import puppeteer from "@cloudflare/puppeteer";
import { expect, it } from "vitest";
import { parseVariables } from "../../../../../src/core/variables/parse-variables.ts";
import { NetworkGuard } from "../../../../../src/pages/browser/tab/network-guard.ts";
import { Tab } from "../../../../../src/pages/browser/tab/tab.ts";
import { PageTransport } from "../../../../support/page-transport.ts";

it("does not let each request in flight listen to the events of all others", async () => {
  const { pages: limits } = parseVariables({}, { drivers: ["sessions"] });
  const transport = new PageTransport();
  const browser = await puppeteer.connect({ transport });
  const guard = await NetworkGuard.install(browser, { privateHosts: new Set() });
  const { page, activity } = await Tab.open(browser, guard, limits);
  const request = { url: "https://www.example.com/", method: "GET", headers: {} };
  for (let count = 0; count < 100; count++) {
    transport.onmessage?.(
      JSON.stringify({
        method: "Network.requestWillBeSent",
        sessionId: "page1",
        params: { requestId: String(count), request, loaderId: "l", frameId: "page1", initiator: {} },
      }),
    );
  }
  // The library handles messages later.
  await setImmediate();
  expect(activity.isBusy).toBe(true);
  const events = ["response", "requestfailed", "requestfinished"] as const;
  expect(events.map((event) => page.listenerCount(event))).toEqual([0, 0, 0]);
});
