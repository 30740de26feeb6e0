import puppeteer from "@cloudflare/puppeteer";
import { expect, it } from "vitest";
import { parseVariables } from "../../../src/core/ports/parse-variables.ts";
import { NetworkGuard } from "../../../src/pages/browser/network-guard.ts";
import { Tab } from "../../../src/pages/browser/tab.ts";
import { signalsFromHtml } from "../../../src/pages/technologies/index.ts";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";
import { PageTransport } from "../../support/page-transport.ts";

it.each([
  ["elements", (n: number) => "<div>".repeat(n)],
  ["elements that end", (n: number) => "<b>".repeat(n) + "</b>".repeat(n)],
  ["ends of nothing", (n: number) => "<div>".repeat(600) + "</b>".repeat(n)],
  ["forms", (n: number) => "<form>".repeat(n)],
  ["paragraphs", (n: number) => "<p>x".repeat(n)],
  ["pictures in svg", (n: number) => "<svg><foreignobject>".repeat(n)],
  ["attributes", (n: number) => `<a ${"x=y ".repeat(n)}>`],
  ["text", (n: number) => "&amp;<".repeat(n)],
  ["comments", (n: number) => "<!--".repeat(n)],
  ["scripts", (n: number) => "<script>".repeat(n)],
])(
  "the signals of a page with many %s",
  async (_name, html) => {
    const growth = await growthOf((n) => {
      const page = { html: html(n), headers: new Headers(), url: "https://www.example.com/" };
      return () => signalsFromHtml(page);
    }, 1 << 16);
    expect(growth).toBeLessThan(MAX_GROWTH);
  },
  60_000,
);

it("the events of a page with many requests at once", { timeout: 60_000 }, async () => {
  const { pages: limits } = parseVariables({}, { drivers: ["sessions"] });
  const transport = new PageTransport();
  const browser = await puppeteer.connect({ transport });
  const guard = await NetworkGuard.install(browser, { privateHosts: new Set() });
  const tab = await Tab.open(browser, guard, limits);
  const growth = await growthOf((n) => {
    const messages = (method: string, params: object) =>
      Array.from({ length: 2 * n }, (_, index) =>
        JSON.stringify({ method, sessionId: "page1", params: { requestId: `${n}.${index}`, ...params } }),
      );
    const request = { url: "https://www.example.com/", method: "GET", headers: {} };
    const sent = [
      ...messages("Network.requestWillBeSent", { request, loaderId: "l", frameId: "page1", initiator: {} }),
      ...messages("Network.loadingFailed", { errorText: "net::ERR_FAILED" }),
    ];
    return () => {
      for (const message of sent) transport.onmessage?.(message);
    };
  }, 1 << 12);
  expect(growth).toBeLessThan(MAX_GROWTH);
  expect(tab.activity.isBusy).toBe(false);
});
