import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { answerFailingPage } from "../support/failing-pages.ts";
import type { Gateway } from "../support/gateway.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { html, startPageService } from "../support/pages.ts";
import { renderers } from "../support/processes.ts";

describeWithBrowser("the page service with a failing page", () => {
  let site: LocalServer;
  let gateway: Gateway;
  let closedPort: string;
  let isShown = (): void => undefined;
  const shown = new Promise<void>((resolve) => {
    isShown = resolve;
  });

  beforeAll(async () => {
    site = await serve((request, response, url) => {
      switch (url.pathname) {
        case "/auth":
          response.statusCode = 401;
          response.setHeader("www-authenticate", "Basic realm=x");
          return html(response, "<h1>Who are you?</h1>");
        case "/moved":
          response.writeHead(301, { location: "/status?is=200" });
          return response.end();
        case "/flood-in-frame":
          return html(response, `<iframe src="http://localhost:${request.socket.localPort}/flood"></iframe>`);
        case "/many-scripts": {
          const scripts = Array.from({ length: 3_000 }, (_, n) => `<script src="/${n}.js"></script>`);
          return html(response, "", `${scripts.join("")}<meta name="generator" content="WordPress 6.5.2">`);
        }
        case "/busy":
          return html(response, "<h1>Busy</h1><script>while (true) {}</script>");
        case "/writes":
          return html(
            response,
            "<script>setInterval(() => { for (let n = 0; n < 1000; n++) console.log('x'.repeat(1000)) })</script>",
          );
        case "/restless":
          return html(response, "<h1>Restless</h1><script>setInterval(() => location.reload(), 60)</script>");
        case "/dialogs":
          return html(
            response,
            "<script>alert(1); confirm(2); prompt(3); onbeforeunload = () => 'stay'</script><h1>Dialogs</h1>",
          );
        case "/closes":
          return html(response, "<h1>Closes</h1><script>setTimeout(() => close(), 30)</script>");
        case "/dies":
          return html(response, '<h1>Dies</h1><img src="/shown">');
        case "/shown":
          isShown();
          return response.end();
        default:
          return answerFailingPage(request, response, url);
      }
    });
    const closed = await serve((_, response) => response.end());
    closedPort = closed.host;
    await closed.close();
    const otherName = site.host.replace("127.0.0.1", "localhost");
    gateway = await startPageService([site.host, otherName, closedPort], {
      PAGE_MAX_BYTES: "2000000",
      PAGE_NAVIGATION_TIMEOUT_MS: "2000",
      // Thousands of scripts take a busy machine eight seconds.
      PAGE_TOTAL_TIMEOUT_MS: "30000",
      PAGE_BUSY_TIMEOUT_MS: "2000",
    });
  });

  afterAll(async () => {
    await gateway.close();
    await site.close();
  });

  const ask = async (url: string, query: Record<string, string> = {}, operation = "thumbs") => {
    const response = await gateway.fetch(`/v1/${operation}?${new URLSearchParams({ url, ...query })}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get("content-type") === "application/json";
    const body: { error?: Record<string, unknown> } = isJson ? JSON.parse(bytes.toString()) : {};
    return { status: response.status, headers: response.headers, error: body.error };
  };

  it.each([
    // The development browser's filter cannot tell the browser that there is no such name.
    ["a host that does not exist", () => "http://does-not-exist.invalid/", 502, "page_unreachable"],
    ["a port that nobody listens on", () => `http://${closedPort}/`, 502, "page_unreachable"],
    ["a server that speaks no TLS", () => `https://${site.host}/`, 502, "page_tls_failed"],
    ["a server that does not answer", () => `${site.origin}/silent`, 504, "page_timeout"],
    ["redirects without end", () => `${site.origin}/around`, 502, "page_redirect_loop"],
    ["a download", () => `${site.origin}/download`, 422, "page_not_renderable"],
    ["a script that never ends", () => `${site.origin}/busy`, 504, "page_timeout"],
  ])("answers for %s", async (_, url, status, code) => {
    const answers = await Promise.all([ask(url()), ask(url(), {}, "technologies")]);
    // A technology lookup needs less of the page than a picture, and may make do with it.
    const [thumbnail] = answers;
    expect(thumbnail, JSON.stringify(thumbnail)).toMatchObject({ status, error: { code, param: "url" } });
    expect(typeof thumbnail?.error?.["message"]).toBe("string");
    expect(thumbnail?.headers.get("cache-control")).toBe("no-store");
    for (const answer of answers) expect([status, 200]).toContain(answer.status);
    expect((await ask(`${site.origin}/?after=${code}`)).status).toBe(200);
  });

  it.each(["/flood", "/flood-in-frame", "/flood-in-worker", "/bomb"])(
    "stops loads beyond the limit of a page: %s",
    async (path) => {
      const { status, headers, error } = await ask(site.origin + path, { delay: "1" });
      const isFlooded = status === 422 && error?.["code"] === "page_too_large";
      const isSaid = status === 200 && headers.get("x-page-over-budget") === "true";
      expect([isFlooded || isSaid, status, error]).toEqual([true, status, error]);
    },
  );

  it.each([401, 503])(
    "captures a page of status %d with that status, and caches it for a minute",
    async (is) => {
      const { status, headers } = await ask(
        is === 401 ? `${site.origin}/auth` : `${site.origin}/status?is=${is}`,
      );
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("image/jpeg");
      expect(headers.get("x-page-status")).toBe(String(is));
      expect(headers.get("cache-control")).toBe("public, max-age=60");
    },
  );

  it("reads a page with thousands of scripts without most of them", async () => {
    const answer = await gateway.fetch(
      `/v1/technologies?url=${encodeURIComponent(`${site.host}/many-scripts`)}`,
    );
    const { incomplete, applications } = JSON.parse(await answer.text());
    expect([answer.status, incomplete, applications]).toEqual([
      200,
      true,
      expect.arrayContaining([expect.objectContaining({ name: "WordPress" })]),
    ]);
  });

  it("states the final address and status of a page", async () => {
    const { status, headers } = await ask(`${site.origin}/moved`);
    expect(status).toBe(200);
    expect(headers.get("x-page-url")).toBe(`${site.origin}/status?is=200`);
    expect(headers.get("x-page-status")).toBe("200");
  });

  it("is not held up by dialogs", async () => {
    // One that waits for an answer is as busy as one whose script never ends.
    expect((await ask(`${site.origin}/dialogs`)).status).toBe(200);
  });

  it("is not held up by a page that writes to its console", async () => {
    expect((await ask(`${site.origin}/writes`, { delay: "1" })).status).toBe(200);
    expect((await ask(`${site.origin}/?after=writes`)).status).toBe(200);
  });

  it.each(["/restless", "/closes"])("answers for a page that does not stay: %s", async (path) => {
    const { status, error } = await ask(site.origin + path, { full: "true" });
    if (status !== 200) expect(error).toMatchObject({ code: expect.stringMatching(/^page_/) });
    expect((await ask(`${site.origin}/?after=${path}`)).status).toBe(200);
  });

  it("answers if the page's process dies, and continues with the next page", async () => {
    const pending = ask(`${site.origin}/dies`, { delay: "10" });
    await shown;
    for (const { pid } of renderers()) process.kill(pid, "SIGKILL");
    expect(await pending).toMatchObject({ status: 502, error: { code: "page_crashed" } });
    expect((await ask(`${site.origin}/?after-crash`)).status).toBe(200);
  });
});
