import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import type { Gateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import {
  browserCounts,
  colourAt,
  decode,
  expectColour,
  GREEN,
  html,
  isSimilarColour,
  RED,
  readPicture,
  startPageService,
} from "../support/pages.ts";
import { browsers, descendants, isRunning } from "../support/processes.ts";
import { ON_DENO } from "../support/runtime.ts";
import { until } from "../support/until.ts";

/** Pages that lead to `/end?from=…` by themselves. */
const GO_ON: Readonly<Record<string, string>> = {
  "/meta": '<meta http-equiv=refresh content="0;url=/end?from=meta">between',
  "/header": "between",
  "/onload": `<body onload="location.href='/end?from=onload'">between`,
  "/at-once": '<script>location.replace("/end?from=at-once")</script>between',
  "/soon": '<script>setTimeout(() => { location = "/end?from=soon" }, 100)</script>between',
  "/form": "<form action=/end><input name=from value=form></form><script>document.forms[0].submit()</script>",
  "/chain": '<meta http-equiv=refresh content="0;url=/chain-2">',
  "/chain-2": '<script>onload = () => location.replace("/end?from=chain")</script>',
};
const WAIT_FOR_EVER =
  '<script>const request = new XMLHttpRequest(); request.open("GET", "/never", false); request.send()</script>';
const square = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"><rect width="400" height="400" fill="green"/></svg>`;

describeWithBrowser("the browser behind the page service", () => {
  let site: LocalServer;
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
      if (pathname === "/header") response.setHeader("refresh", "0;url=/end?from=header");
      const leading = GO_ON[pathname];
      if (leading !== undefined) return html(response, leading);
      if (pathname === "/around") {
        return html(response, `<meta http-equiv=refresh content="0;url=/around?${Math.random()}">`);
      }
      if (pathname === "/to-nothing") {
        return html(
          response,
          `<div style="height:1200px;background:green"></div><script>location = "mailto:a@example.com"</script>`,
        );
      }
      // A script that waits occupies its page like one that computes, which would take a core from the other tests.
      if (pathname === "/busy") return html(response, WAIT_FOR_EVER);
      if (pathname === "/never") return;
      if (pathname === "/wide")
        return html(response, `<div style="width:17000px;height:300px;background:green"></div>`);
      if (pathname === "/tall") return html(response, `<div style="height:50000px;background:green"></div>`);
      return html(response, `<div style="height:1200px;background:green"></div>`);
    });
    gateway = await startPageService([site.host], {
      BROWSER_MAX_TABS: "3",
      PAGE_TOTAL_TIMEOUT_MS: "15000",
      PAGE_BUSY_TIMEOUT_MS: "2000",
    });
  });

  afterAll(async () => {
    await gateway.close();
    await site.close();
  });

  const thumbs = (path: string, query: Record<string, string> = {}, client = "192.0.2.1") =>
    gateway.fetch(`/v1/thumbs?${new URLSearchParams({ url: site.origin + path, ...query })}`, {
      headers: { "cf-connecting-ip": client },
    });
  const picture = async (path: string, query: Record<string, string> = {}) =>
    readPicture(await thumbs(path, { format: "png", ...query }));

  it("loads lazy content of a full page", async () => {
    const image = await picture("/lazy", { full: "true", size: "o", width: "600" });
    expect(image).toMatchObject({ width: 600, height: 4900 });
    expectColour(image, 100, 4600, GREEN);
    expectColour(image, 100, 4800, GREEN);
  });

  it("cuts a page that is too high or too wide, and states where", async () => {
    const response = await thumbs("/tall", { full: "true" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-page-cut-at")).toBe("20000");
    const image = await decode(await response.arrayBuffer());
    expect(image).toMatchObject({ width: 320, height: 5333 });
    expectColour(image, 300, 5300, GREEN);
    const large = await thumbs("/tall", { full: "true", size: "o", viewportWidth: "400" });
    expect([large.status, large.headers.get("x-page-cut-at")]).toEqual([200, "16383"]);
    expect(await decode(await large.arrayBuffer())).toMatchObject({ width: 400, height: 16_383 });
    const wide = await thumbs("/wide", { full: "true" });
    expect([wide.headers.get("x-page-cut-at-width"), wide.headers.get("x-page-cut-at")]).toEqual([
      "16383",
      null,
    ]);
    const { status, headers } = await thumbs("/tall", { format: "pdf", paper: "a6", landscape: "true" });
    expect([status, headers.get("x-page-sheets"), headers.get("x-page-cut-at-sheet")]).toEqual([
      200,
      "100",
      "100",
    ]);
  });

  it("hides cookie banners on request", async () => {
    const shown = await picture("/banner");
    expectColour(shown, 100, 100, RED);
    const hidden = await picture("/banner", { blockCookieBanners: "true", blockAds: "true" });
    expectColour(hidden, 100, 100, GREEN);
  });

  it("keeps nothing of one page for the next", async () => {
    for (const size of ["t", "s", "m"]) {
      const image = await picture("/cookies", { size });
      expectColour(image, 20, 20, GREEN);
    }
  });

  it("captures once for all simultaneous equal requests", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => thumbs("/same", { delay: "1" })));
    const images = await Promise.all(
      answers.map(async (answer) => Buffer.from(await answer.arrayBuffer()).toString("base64")),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(images).size).toBe(1);
    expect(visits.get("/same")).toBe(1);
  });

  it("follows a page that navigates by itself, and states the final address", async () => {
    const ways = ["meta", "header", "onload", "at-once", "soon", "form", "chain"];
    const answers = await Promise.all(ways.map((way) => thumbs(`/${way}`, { format: "png" })));
    for (const [index, answer] of answers.entries()) {
      const seen = [answer.status, answer.headers.get("x-page-url")];
      expect(seen).toEqual([200, `${site.origin}/end?from=${ways[index]}`]);
      const image = await decode(await answer.arrayBuffer());
      expect([ways[index], isSimilarColour(colourAt(image, 100, 100), GREEN)]).toEqual([ways[index], true]);
    }
    const query = new URLSearchParams({ url: `${site.origin}/meta` });
    const lookup = await gateway.fetch(`/v1/technologies?${query}`);
    expect(JSON.parse(await lookup.text())).toMatchObject({ url: `${site.origin}/end?from=meta` });
  });

  it("stops following endless navigations, and stays on a page that navigates nowhere", async () => {
    const [around, toNothing] = await Promise.all([
      thumbs("/around"),
      thumbs("/to-nothing", { format: "png" }),
    ]);
    expect([around.status, await around.text()]).toEqual([
      502,
      expect.stringContaining("page_redirect_loop"),
    ]);
    expect([toNothing.status, toNothing.headers.get("x-page-url")]).toEqual([
      200,
      `${site.origin}/to-nothing`,
    ]);
    expectColour(await decode(await toNothing.arrayBuffer()), 100, 100, GREEN);
  });

  it("serves others while pages of one client never end", async () => {
    let ended = 0;
    const busy = Array.from({ length: 4 }, async (_, index) => {
      const answer = await thumbs(`/busy?${index}`, {}, "192.0.2.66");
      ended++;
      return [answer.status, await answer.text()];
    });
    // Which of them come first is not said, nor how many tabs a client has that has done harm.
    const begun = () => [...visits.keys()].filter((path) => path.startsWith("/busy?")).length;
    await expect.poll(begun, { timeout: 25_000 }).toBeGreaterThanOrEqual(2);
    expect((await thumbs("/ordinary")).status).toBe(200);
    expect(ended).toBeLessThan(busy.length);
    for (const answer of await Promise.all(busy)) {
      expect(answer).toEqual([504, expect.stringContaining("page_timeout")]);
    }
  }, 60_000);

  it("serves 20 simultaneous requests within its number of tabs", async () => {
    const before = await browserCounts(gateway);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => thumbs(`/many?${index}`, {}, `192.0.2.${index % 2}`)),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    // The last tabs close behind their answers.
    const { mostOpen, launches } = await until(
      () => browserCounts(gateway),
      ({ open }) => open === 0,
    );
    // Deno's log tells of launches only.
    expect([mostOpen, launches]).toEqual([ON_DENO ? 0 : 3, before.launches]);
  });

  it("is replaced if it is killed", async () => {
    const { launches } = await browserCounts(gateway);
    const pending = thumbs("/killed", { delay: "1" });
    await expect.poll(() => visits.get("/killed")).toBe(1);
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

  it("is the only one of an idle service, and ends with it", async () => {
    const [browser, ...others] = browsers();
    expect([browser, others]).toEqual([expect.anything(), []]);
    const pids = [browser, ...descendants(browser?.pid)].flatMap((found) => found?.pid ?? []);
    await gateway.close();
    await expect.poll(() => pids.filter(isRunning), { timeout: 5_000 }).toEqual([]);
    gateway = await startPageService([site.host]);
  });
});
