import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import type { Gateway } from "../support/gateway.ts";
import {
  alike,
  browserCounts,
  colourAt,
  decode,
  html,
  type Site,
  serve,
  startPageService,
} from "../support/pages.ts";
import { browsers, descendants } from "../support/processes.ts";
import { ON_DENO } from "../support/runtime.ts";

const GREEN = [0, 128, 0];
const square = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400" fill="green"/></svg>`;

describeWithBrowser("the browser behind the page service", () => {
  let site: Site;
  let gateway: Gateway;
  const visits = new Map<string, number>();

  beforeAll(async () => {
    site = await serve((request, response, { pathname, search }) => {
      visits.set(pathname + search, (visits.get(pathname + search) ?? 0) + 1);
      if (pathname === "/square.svg") {
        response.setHeader("content-type", "image/svg+xml");
        return response.end(square);
      }
      if (pathname === "/lazy") {
        return html(
          response,
          `<div style="height:9000px"></div><img loading=lazy src="/square.svg?native" style="display:block">
           <div id=seen style="height:400px"></div><script>new IntersectionObserver(([entry], observer) => {
             if (entry.isIntersecting) { seen.style.background = "green"; observer.disconnect(); }
           }).observe(seen)</script>`,
        );
      }
      if (pathname === "/cookies") {
        response.setHeader("set-cookie", `seen=1; path=/`);
        return html(
          response,
          `<div style="height:1200px;background:${request.headers.cookie === undefined ? "green" : "red"}"></div>`,
        );
      }
      if (pathname === "/banner") {
        return html(
          response,
          `<div style="height:1200px;background:green"></div><div id=onetrust-banner-sdk style="position:fixed;inset:0;background:red"></div>`,
        );
      }
      if (pathname === "/tall") return html(response, `<div style="height:50000px;background:green"></div>`);
      return html(response, `<div style="height:1200px;background:green"></div>`);
    });
    gateway = await startPageService([site.host], { BROWSER_MAX_TABS: "3", PAGE_TOTAL_TIMEOUT_MS: "15000" });
  });

  afterAll(async () => {
    await gateway.close();
    await site.close();
  });

  const thumbs = (path: string, query: Record<string, string> = {}) =>
    gateway.fetch(`/v1/thumbs?${new URLSearchParams({ url: site.origin + path, ...query })}`);
  const picture = async (path: string, query: Record<string, string> = {}) => {
    const response = await thumbs(path, { format: "png", ...query });
    expect(response.status).toBe(200);
    return decode(await response.arrayBuffer());
  };

  it("loads what a full page would load only when it is seen", async () => {
    const image = await picture("/lazy", { full: "true", size: "o", width: "600" });
    expect(image).toMatchObject({ width: 600, height: 4900 });
    expect(alike(colourAt(image, 100, 4600), GREEN)).toBe(true);
    expect(alike(colourAt(image, 100, 4800), GREEN)).toBe(true);
  });

  it("cuts a page that is too high, and says where", async () => {
    const response = await thumbs("/tall", { full: "true" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-page-cut-at")).toBe("20000");
    const image = await decode(await response.arrayBuffer());
    expect(image).toMatchObject({ width: 320, height: 5333 });
    expect(alike(colourAt(image, 300, 5300), GREEN)).toBe(true);
    const large = await thumbs("/tall", { full: "true", size: "o", viewportWidth: "400" });
    expect(large.status).toBe(200);
    expect(await decode(await large.arrayBuffer())).toMatchObject({ width: 400, height: 16_383 });
  });

  it("hides cookie banners when asked", async () => {
    const shown = await picture("/banner");
    expect(alike(colourAt(shown, 100, 100), [255, 0, 0])).toBe(true);
    const hidden = await picture("/banner", { blockCookieBanners: "true", blockAds: "true" });
    expect(alike(colourAt(hidden, 100, 100), GREEN)).toBe(true);
  });

  it("keeps nothing of one page for the next", async () => {
    for (const size of ["t", "s", "m"]) {
      const image = await picture("/cookies", { size });
      expect(alike(colourAt(image, 20, 20), GREEN)).toBe(true);
    }
  });

  it("captures once for all who ask for the same at the same moment", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => thumbs("/same", { delay: "1" })));
    const images = await Promise.all(
      answers.map(async (answer) => Buffer.from(await answer.arrayBuffer()).toString("base64")),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(images).size).toBe(1);
    expect(visits.get("/same")).toBe(1);
  });

  it("serves 20 at once with the tabs that it may have", async () => {
    const before = await browserCounts(gateway);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => thumbs(`/many?${index}`)));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    const { mostOpen, open, launches } = await browserCounts(gateway);
    // Deno's log tells of launches only.
    expect([mostOpen, open, launches]).toEqual([ON_DENO ? 0 : 3, 0, before.launches]);
  });

  it("outlives its browser", async () => {
    const { launches } = await browserCounts(gateway);
    const pending = thumbs("/killed", { delay: "1" });
    await expect.poll(() => visits.get("/killed"), { timeout: 5000 }).toBe(1);
    const running = browsers();
    expect(running.length).toBeGreaterThan(0);
    for (const { pid } of running) process.kill(pid, "SIGKILL");
    const answer = await pending;
    expect(answer.status).toBe(200);
    expect(await decode(await answer.arrayBuffer())).toMatchObject({ width: 320, height: 240 });
    expect(visits.get("/killed")).toBe(2);
    expect((await browserCounts(gateway)).launches).toBe(launches + 1);
    expect((await thumbs("/next")).status).toBe(200);
  });

  it("is left behind by no one: an idle service holds one browser, and its end ends it", async () => {
    expect(browsers()).toHaveLength(1);
    await gateway.close();
    await expect
      .poll(() => descendants().filter(({ command }) => /chromium/.test(command)).length, { timeout: 5000 })
      .toBe(0);
    gateway = await startPageService([site.host]);
  });
});
