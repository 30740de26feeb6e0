import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allowPrivateHosts, root } from "../../scripts/development.mjs";
import { browserExecutable, describeWithBrowser } from "../support/browser.ts";
import type { Gateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { browserCounts, html, startPageService } from "../support/pages.ts";
import { until } from "../support/until.ts";
import { refused } from "../unit/core/url-safety/forms.ts";

/** A private service: it writes down everything that reaches it, the mere connections too. */
interface Listener {
  readonly host: string;
  /** The paths asked for, and `connection` for each connection. */
  readonly arrivals: string[];
  readonly server: Server;
}

async function listen(): Promise<Listener> {
  const arrivals: string[] = [];
  const server = createServer((socket) => {
    arrivals.push("connection");
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      arrivals.push(/^[A-Z]+ \/([\w-]*)/.exec(data.toString("latin1"))?.[1] ?? "unknown bytes");
      socket.end(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\naccess-control-allow-origin: *\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
      );
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { host: `127.0.0.1:${port}`, arrivals, server };
}

const hostileScript = readFileSync(join(root, "test/fixtures/hostile-page.js"), { encoding: "utf8" });

/** Headers by which a page can make its browser connect to somewhere. */
const hostileHeaders = (to: string): [string, string][] => [
  [
    "link",
    [
      `<${to}/link-header>; rel=preload; as=image`,
      `<${to}/link-header-module>; rel=modulepreload`,
      `<${to}/link-header-prefetch>; rel=prefetch`,
      `<${to}/link-header-dictionary>; rel=compression-dictionary`,
      `<${to}>; rel=preconnect`,
    ].join(", "),
  ],
  ["reporting-endpoints", `out="${to}/report", default="${to}/report-default"`],
  ["report-to", JSON.stringify({ group: "old", max_age: 1000, endpoints: [{ url: `${to}/report-to` }] })],
  ["nel", JSON.stringify({ report_to: "old", max_age: 1000, success_fraction: 1, failure_fraction: 1 })],
  [
    "content-security-policy-report-only",
    `img-src 'none'; report-uri ${to}/csp-report, font-src 'none'; report-to out`,
  ],
  ["permissions-policy-report-only", "geolocation=();report-to=out"],
  ["document-policy-report-only", "*;report-to=out, unsized-media=?0"],
  ["integrity-policy-report-only", "blocked-destinations=(script), endpoints=(out)"],
  ["cross-origin-opener-policy-report-only", 'same-origin; report-to="out"'],
  ["cross-origin-embedder-policy-report-only", 'require-corp; report-to="out"'],
  ["alt-svc", `h2="${new URL(to).host}"; ma=1000`],
];

/** What a page may do to a visitor who has clicked on it, and to no other. */
const clicked = `(to, leaves) => {
  const make = (name, properties) => document.body.appendChild(Object.assign(document.createElement(name), properties));
  window.open(to + "/open");
  make("iframe").contentWindow.open(to + "/frame-open");
  make("a", { href: to + "/blank", target: "_blank" }).click();
  make("a", { href: "/file", download: "file" }).click();
  make("a", { href: "#here", ping: to + "/ping" }).click();
  make("form", { action: to + "/form", target: "_blank", method: "post" }).submit();
  make("form", { action: to + "/named", target: "other" }).submit();
  window.onbeforeunload = (event) => event.preventDefault();
  if (leaves) window.location = to + "/left";
  make("input", { type: "file" }).showPicker();
}`;

describeWithBrowser("a hostile page", () => {
  let listener: Listener;
  let site: LocalServer;
  let gateway: Gateway;
  let otherOrigin = "";
  let asked = 0;

  beforeAll(async () => {
    listener = await listen();
    site = await serve((request, response, { pathname, searchParams }) => {
      asked++;
      const to = searchParams.get("to") ?? "";
      const ws = searchParams.get("ws") ?? "";
      const javascript = (text: string) => {
        response.setHeader("content-type", "text/javascript");
        response.end(text);
      };
      switch (pathname) {
        case "/redirect":
        case "/leave":
          response.writeHead(302, { location: to || `http://${listener.host}/left` });
          return response.end();
        case "/leave-by-script":
          return html(response, `<script>location = "http://${listener.host}/left"</script>`);
        case "/clicked":
          return html(
            response,
            `<button style="position:fixed;inset:0" onclick='(${clicked})("http://${listener.host}", ${searchParams.has("leaves")})'>go</button>`,
          );
        case "/late":
          // The page is gone by then.
          return setTimeout(() => {
            response.writeHead(302, { location: to });
            response.end();
          }, 2_800);
        case "/refresh":
          response.setHeader("refresh", `0;url=${to}`);
          return html(response, "on");
        case "/frame":
          return html(
            response,
            `<script>fetch(${JSON.stringify(to)}, { mode: "no-cors" }); new WebSocket(${JSON.stringify(ws)})</script>`,
          );
        case "/worker.js":
          return javascript(`new WebSocket(${JSON.stringify(ws)})`);
        case "/service-worker.js":
          return javascript(
            `fetch(${JSON.stringify(to)}, { mode: "no-cors" }); new WebSocket(${JSON.stringify(ws)}); self.skipWaiting()`,
          );
        case "/prerendered":
          return html(response, `<img src=${JSON.stringify(to)}>`);
        case "/rules.json":
          response.setHeader("content-type", "application/speculationrules+json");
          response.setHeader("access-control-allow-origin", "*");
          return response.end(
            JSON.stringify({
              prefetch: [
                { source: "list", urls: [`http://${listener.host}/rules-header`], eagerness: "immediate" },
              ],
            }),
          );
        case "/hostile":
          response.setHeader("speculation-rules", '"/rules.json"');
          for (const [name, value] of hostileHeaders(`http://${listener.host}`))
            response.setHeader(name, value);
          return html(
            response,
            `<h1>Hostile</h1><script>const SITE = "http://${request.headers.host}", OTHER = "${otherOrigin}", HOST = "${listener.host}";</script><script src="/hostile.js"></script>`,
          );
        case "/hostile.js":
          return javascript(hostileScript);
        default:
          response.statusCode = 404;
          return html(response, "nothing");
      }
    });
    otherOrigin = site.origin.replace("127.0.0.1", "localhost");
    gateway = await startPageService([site.host, site.host.replace("127.0.0.1", "localhost")], {
      PAGE_NAVIGATION_TIMEOUT_MS: "4000",
    });
  });

  afterAll(async () => {
    await gateway.close();
    await site.close();
    listener.server.close();
  });

  it("has more than 80 ways out of an unguarded browser", async () => {
    const browser = await chromium.launch({ executablePath: browserExecutable() ?? "" });
    const page = await browser.newPage();
    await page.goto(`${site.origin}/hostile`, { waitUntil: "domcontentloaded" }).catch(() => undefined);
    await until(
      async () => new Set(listener.arrivals).size,
      (ways) => ways > 80,
      20_000,
    ).catch(() => undefined);
    await browser.close();
    const ways = new Set(listener.arrivals);
    expect(ways.size, [...ways].join()).toBeGreaterThan(80);
  });

  it("reaches nothing private through the service", async () => {
    listener.arrivals.length = 0;
    const query = new URLSearchParams({ url: `${site.origin}/hostile`, maxAge: "0" });
    const [thumbnail, technologies] = await Promise.all([
      gateway.fetch(`/v1/thumbs?${query}&delay=3`),
      gateway.fetch(`/v1/technologies?${query}`),
    ]);
    // In the end the page goes to the listener itself: a slow machine is still looking for technologies then.
    expect(thumbnail.status).toBe(400);
    expect([200, 400, 504]).toContain(technologies.status);
    expect(await thumbnail.text()).toContain("forbidden_url");
    // What was started in the last moment has time to arrive.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(listener.arrivals).toEqual([]);
  });

  it("gets no further than a bare connection if only the service itself stops it", async () => {
    listener.arrivals.length = 0;
    // The filter of the development browser lets the listener be reached; the service does not know it.
    allowPrivateHosts([site.host, new URL(otherOrigin).host, listener.host].join(","));
    const query = new URLSearchParams({ url: `${site.origin}/hostile`, delay: "3", maxAge: "0" });
    const response = await gateway.fetch(`/v1/thumbs?${query}`);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("forbidden_url")]);
    expect(listener.arrivals.filter((arrival) => arrival !== "connection")).toEqual([]);
  });

  it("reaches nothing private as a document from a caller, or by a script from an operator", async () => {
    listener.arrivals.length = 0;
    asked = 0;
    const head = `const SITE = "${site.origin}", OTHER = "${otherOrigin}", HOST = "${listener.host}";`;
    const post = (type: string, body: string, headers: Record<string, string> = {}) =>
      gateway.fetch("/v1/thumbs?delay=3", {
        method: "POST",
        headers: { "content-type": type, ...headers },
        body,
      });
    const document = `<!doctype html><body><script>${head}</script><script src="/hostile.js"></script><script>${hostileScript}</script>`;
    const inScript = JSON.stringify({
      html: "<!doctype html><body>",
      scripts: [`${head}\n${hostileScript}`],
      delay: 3,
    });
    const answers = await Promise.all([
      post("text/html", document),
      post(
        "text/markdown",
        `# Hostile\n\n<script>${head}\n${hostileScript.replaceAll("\n\n", "\n")}</script>`,
      ),
      gateway.fetch("/v1/thumbs", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-dev" },
        body: inScript,
      }),
    ]);
    // On a busy machine a page is captured before it goes to the listener itself.
    for (const answer of answers) expect([200, 400], await answer.text()).toContain(answer.status);
    expect(asked).toBeGreaterThan(10);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(listener.arrivals).toEqual([]);
  });

  it.each(["/leave", "/leave-by-script"])(
    "is refused if it navigates to a private address: %s",
    async (path) => {
      listener.arrivals.length = 0;
      const response = await gateway.fetch(`/v1/thumbs?${new URLSearchParams({ url: site.origin + path })}`);
      expect(response.status).toBe(400);
      const { error } = JSON.parse(await response.text());
      expect(error).toMatchObject({ code: "forbidden_url", param: "url" });
      expect(listener.arrivals).toEqual([]);
    },
  );

  it("gets nowhere by being clicked on", async () => {
    listener.arrivals.length = 0;
    const ask = (query: string) =>
      gateway.fetch(
        `/v1/thumbs?${new URLSearchParams({ url: `${site.origin}/clicked${query}`, click: "button", delay: "1" })}`,
      );
    const [stays, leaves] = await Promise.all([ask(""), ask("?leaves")]);
    expect([stays.status, await stays.arrayBuffer()]).toEqual([200, expect.anything()]);
    expect([leaves.status, await leaves.text()]).toEqual([400, expect.stringContaining("forbidden_url")]);
    expect(listener.arrivals).toEqual([]);
  });

  it("is refused by its address before anything is loaded", async () => {
    asked = 0;
    listener.arrivals.length = 0;
    const forms = Object.entries(refused).flatMap(([code, urls]) => urls.map((url) => ({ code, url })));
    const own = [
      `http://${listener.host}/direct`,
      `http://localhost:${listener.host.split(":")[1]}/`,
      `http://user@${site.host}/`,
    ];
    expect(forms.length + own.length).toBeGreaterThan(150);
    const before = await until(
      () => browserCounts(gateway),
      ({ open }) => open === 0,
    );
    const ask = async (operation: string, url: string) => {
      const response = await gateway.fetch(`/v1/${operation}?${new URLSearchParams({ url })}`);
      const { error } = JSON.parse(await response.text());
      return [url, response.status, error.code, error.param];
    };
    for (const operation of ["thumbs", "technologies"]) {
      const answers = await Promise.all(forms.map(({ url }) => ask(operation, url)));
      expect(answers).toEqual(forms.map(({ code, url }) => [url, 400, code, "url"]));
      for (const answer of await Promise.all(own.map((url) => ask(operation, url)))) {
        expect(answer).toEqual([answer[0], 400, expect.stringMatching(/^url_/), "url"]);
      }
    }
    expect(asked).toBe(0);
    expect(listener.arrivals).toEqual([]);
    expect(await browserCounts(gateway)).toEqual(before);
  });
});
