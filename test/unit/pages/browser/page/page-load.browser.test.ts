import { expect, it } from "vitest";
import { describeWithBrowser } from "../../../../support/browser.ts";
import { usePageService } from "../../../../support/page-service.ts";
import { colourAt, decode, expectColour, GREEN, html, WHITE } from "../../../../support/pages.ts";

const HEAD = `<meta name="description" content="Read all the same"><meta property="og:site_name" content="Café">
  <meta name="generator" content="WordPress 6.5.2">`;
const GREEN_BOX = '<div style="height:600px;background:green"></div>';

describeWithBrowser("an incomplete page", () => {
  const pages = usePageService(
    (_, response, { pathname }) => {
      switch (pathname) {
        case "/silent.js":
        case "/silent.css":
        case "/silent.png":
          return undefined;
        case "/script":
          return html(response, GREEN_BOX, `<script src="/silent.js"></script>${HEAD}`);
        case "/sheet":
          return html(
            response,
            GREEN_BOX,
            `<link rel="stylesheet" href="/silent.css"><script>window.early = 1</script>${HEAD}`,
          );
        case "/body":
          return html(response, `${GREEN_BOX}<script src="/silent.js"></script><p>Last</p>`, HEAD);
        case "/deferred":
          return html(
            response,
            `${GREEN_BOX}<script>document.title = "Scripted"</script>`,
            `<script defer src="/silent.js"></script>${HEAD}`,
          );
        case "/picture":
          return html(response, `${GREEN_BOX}<img src="/silent.png">`, HEAD);
        case "/cut":
          response.setHeader("content-type", "text/html; charset=utf-8");
          response.setHeader("content-length", "10000");
          response.write(`<!doctype html><title>Test</title>${HEAD}${GREEN_BOX}`);
          return setTimeout(() => response.destroy(), 100);
        case "/not-gzip":
          response.setHeader("content-encoding", "gzip");
          return html(response, GREEN_BOX, HEAD);
        case "/stopped":
          return html(response, GREEN_BOX, "<script>window.stop()</script>");
        default:
          return html(response, GREEN_BOX, HEAD);
      }
    },
    { PAGE_NAVIGATION_TIMEOUT_MS: "1500" },
  );

  const ask = async (operation: string, path: string, query: Record<string, string> = {}) => {
    const response = await pages.ask(operation, path, query);
    expect(response.status).toBe(200);
    return response;
  };
  const askJson = async (operation: string, path: string, query: Record<string, string> = {}) =>
    (await ask(operation, path, query)).json();

  it.each([
    ["/script", "blocked_markup"],
    ["/sheet", "blocked_markup"],
    ["/body", "blocked_markup"],
    ["/deferred", "load_timeout"],
    ["/picture", "load_timeout"],
    ["/cut", "response_cut"],
  ])("is read in full, and the answer states the reason: %s", async (path, reason) => {
    const [metadata, technologies, picture, json] = await Promise.all([
      askJson("metadata", path, { technologies: "true" }),
      askJson("technologies", path),
      ask("thumbs", path, { format: "png" }),
      askJson("thumbs", path, { output: "json" }),
    ]);
    expect(metadata).toMatchObject({
      title: path === "/deferred" ? "Scripted" : "Test",
      description: "Read all the same",
      openGraph: { site_name: "Café" },
      incomplete: true,
      incompleteReason: reason,
      applications: expect.arrayContaining([expect.objectContaining({ name: "WordPress" })]),
    });
    expect(technologies).toMatchObject({ incomplete: true, incompleteReason: reason });
    expect(picture.headers.get("x-page-incomplete")).toBe("true");
    expect(picture.headers.get("x-page-incomplete-reason")).toBe(reason);
    expectColour(await decode(await picture.arrayBuffer()), 100, 40, GREEN);
    expect(json).toMatchObject({ width: 320, height: 240, incomplete: true, incompleteReason: reason });
  });

  it("includes one whose response cannot be decoded", async () => {
    const picture = await ask("thumbs", "/not-gzip");
    expect(picture.headers.get("x-page-incomplete-reason")).toBe("response_cut");
  });

  it("is not reported if nothing is missing", async () => {
    for (const operation of ["metadata", "technologies"]) {
      expect(await askJson(operation, "/whole")).not.toHaveProperty("incomplete");
    }
    expect(await askJson("thumbs", "/whole", { output: "json" })).not.toHaveProperty("incomplete");
  });

  it("does not include a page that stops its own load, which is shown as empty as visitors see it", async () => {
    const picture = await ask("thumbs", "/stopped", { format: "png" });
    expect(colourAt(await decode(await picture.arrayBuffer()), 100, 40)).toEqual(WHITE);
  });
});
