import { expect, it } from "vitest";
import { describeWithBrowser } from "../../../support/browser.ts";
import { answerFailingPage } from "../../../support/failing-pages.ts";
import { usePageService } from "../../../support/page-service.ts";
import { html } from "../../../support/pages.ts";

describeWithBrowser("a failing page", () => {
  const pages = usePageService(
    (request, response, url) => {
      switch (url.pathname) {
        case "/pdf":
          response.setHeader("content-type", "application/pdf");
          return response.end("%PDF-1.4\n%%EOF");
        case "/no-content":
          response.statusCode = 204;
          return response.end();
        case "/around-slowly":
          response.writeHead(302, { location: `/around-slowly?${Math.random()}` });
          return setTimeout(() => response.end(), 400);
        case "/around-by-itself":
          return html(
            response,
            `<meta http-equiv=refresh content="0;url=/around-by-itself?${Math.random()}">`,
          );
        case "/to-private":
          return response.writeHead(302, { location: "http://10.0.0.1/" }).end();
        case "/hangs-up":
          return request.socket.destroy();
        default:
          return answerFailingPage(request, response, url);
      }
    },
    {
      PAGE_MAX_BYTES: "2000000",
      // Enough for the redirects of a loop on a busy machine, too little for those of a slow site.
      PAGE_NAVIGATION_TIMEOUT_MS: "6000",
      PAGE_RESPONSE_TIMEOUT_MS: "2000",
      PAGE_TOTAL_TIMEOUT_MS: "20000",
    },
  );

  it.each([
    ["/hangs-up", 502, "page_unreachable"],
    ["/silent", 504, "page_timeout"],
    ["/around", 502, "page_redirect_loop"],
    ["/around-by-itself", 502, "page_redirect_loop"],
    ["/around-slowly", 504, "page_timeout"],
    ["/download", 422, "page_not_renderable"],
    ["/pdf", 422, "page_not_renderable"],
    ["/no-content", 422, "page_not_renderable"],
    ["/to-private", 400, "forbidden_url"],
  ])("is an error about the address: %s", async (path, status, code) => {
    const response = await pages.ask("thumbs", path);
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      status,
      { error: { code, param: "url" } },
    ]);
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it.each([403, 404, 410, 500])("is captured with its status %d, and cached for a minute", async (is) => {
    const response = await pages.ask("thumbs", `/status?is=${is}`, { size: "t" });
    expect([response.status, response.headers.get("x-page-status")]).toEqual([200, String(is)]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=60");
    await response.arrayBuffer();
  });

  it.each(["/flood", "/flood-in-worker", "/bomb"])(
    "cannot load more than its limit from any context: %s",
    async (path) => {
      const response = await pages.ask("thumbs", path, { delay: "1" });
      const text = await response.text();
      if (response.status === 200) expect(response.headers.get("x-page-over-budget")).toBe("true");
      else expect([response.status, text]).toEqual([422, expect.stringContaining("page_too_large")]);
    },
  );
});
