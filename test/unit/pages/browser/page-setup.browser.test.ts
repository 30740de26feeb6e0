import { expect, it } from "vitest";
import { describeWithBrowser } from "../../../support/browser.ts";
import { usePageService } from "../../../support/page-service.ts";
import { colourAt, GREEN, html, isSimilarColour, readPicture } from "../../../support/pages.ts";

const fill = (colour: string) => `<div style="height:1200px;background:${colour}"></div>`;
const SECRETS = { headers: ["X-Token: token-4711"], cookies: ["session=cookie-4711"] };
const VALUES = ["token-4711", "cookie-4711"];

/** A request that the site got: its path, and whether it came to the other name. */
interface Arrival {
  readonly path: string;
  readonly isElsewhere: boolean;
  readonly secrets: readonly string[];
}

describeWithBrowser("the set-up of a page by the caller", () => {
  let arrivals: Arrival[] = [];
  const pages = usePageService(({ headers, url = "" }, response, { pathname }) => {
    const text = JSON.stringify(headers) + url;
    arrivals.push({
      path: pathname,
      isElsewhere: headers.host?.startsWith("localhost") === true,
      secrets: VALUES.filter((value) => text.includes(value)),
    });
    response.setHeader("access-control-allow-origin", "*");
    const other = pages.otherOrigin;
    switch (pathname) {
      case "/gone":
      case "/missing.png":
        response.statusCode = 404;
        return html(response, "gone");
      case "/broken":
        return html(response, `${fill("red")}<img src="/missing.png">`);
      case "/throws":
        return html(response, `<script>missing()</script>`);
      case "/rejects":
        return html(response, `<script>Promise.reject(new Error("bad day"))</script>`);
      case "/complains":
        return html(response, `<script>console.error("bad day")</script>`);
      case "/strict":
        response.setHeader("content-security-policy", "default-src 'none'");
        return html(response, "<div id=box></div>");
      case "/types":
        return html(
          response,
          `<img src="/a.png"><script src="/a.js"></script><link rel=stylesheet href="/a.css">`,
        );
      case "/secret":
        return html(
          response,
          `<img src="/image"><img src="${other}/image"><script>fetch("/data"); fetch("${other}/data")</script>`,
        );
      case "/leave":
        return response.writeHead(302, { location: `${other}/landed` }).end();
      case "/leave-by-script":
        return html(response, `<script>location = "${other}/landed"</script>`);
      case "/landed":
        return html(response, `<img src="${pages.site.origin}/from-other">`);
      default:
        return html(response, fill("red"));
    }
  });

  const post = (operation: string, path: string, body: object) => {
    arrivals = [];
    return pages.post(operation, { url: pages.site.origin + path, ...body });
  };
  async function looksGreen(response: Response): Promise<boolean> {
    return isSimilarColour(colourAt(await readPicture(response), 100, 100), GREEN);
  }
  async function errorOf(response: Response): Promise<unknown[]> {
    const { error }: { error: { code: string; param: string } } = JSON.parse(await response.text());
    return [response.status, error.code, error.param];
  }

  it("adds styles and runs scripts one after another, despite the page's own policy", async () => {
    const styles = ["#box { height: 1200px; background: red }"];
    const scripts = [
      "await new Promise((resolve) => setTimeout(resolve, 50)); globalThis.colour = 'green'",
      "box.style.background = colour",
    ];
    const asked = { format: "png", styles };
    expect(await looksGreen(await post("thumbs", "/strict", asked))).toBe(false);
    expect(await looksGreen(await post("thumbs", "/strict", { ...asked, scripts }))).toBe(true);
    const failing = await post("thumbs", "/strict", { scripts: ["nowhere()"] });
    expect([failing.status, await failing.text()]).toEqual([
      400,
      expect.stringContaining("nowhere is not defined"),
    ]);
  });

  it("may contain the whole document, which has an opaque origin", async () => {
    const document = `<!doctype html><body style="margin:0">${fill("red")}<script>
      let opaque = origin === "null";
      try { document.cookie; opaque = false } catch {}
      if (opaque) document.querySelector("div").style.background = "green"</script>`;
    const answer = await pages.post("thumbs", { html: document, format: "png" });
    expect(answer.headers.get("x-page-url")).toBe("https://page.invalid/");
    expect(await looksGreen(answer)).toBe(true);
  });

  it("blocks types of resources, which is not a failure of the page", async () => {
    const rules = { blockResources: ["image", "script"], failOnResourceLoadingFailed: true };
    const response = await post("thumbs", "/types", rules);
    expect(response.status, await response.clone().text()).toBe(200);
    expect(arrivals.map(({ path }) => path).filter((path) => path.startsWith("/a."))).toEqual(["/a.css"]);
  });

  it.each([
    ["/gone", { failOnStatus: ["404"] }, "failOnStatus"],
    ["/gone", { failOnStatus: ["5xx", "4xx"] }, "failOnStatus"],
    ["/broken", { failOnResourceLoadingFailed: true }, "failOnResourceLoadingFailed"],
    ["/throws", { failOnConsoleErrors: true }, "failOnConsoleErrors"],
    ["/rejects", { failOnConsoleErrors: true }, "failOnConsoleErrors"],
    ["/complains", { failOnConsoleErrors: true }, "failOnConsoleErrors"],
  ])("makes %s fail with %j, and not a page without faults", async (path, rule, param) => {
    const [failed, fine] = await Promise.all([post("metadata", path, rule), post("metadata", "/", rule)]);
    expect(await errorOf(failed)).toEqual([422, "page_failed", param]);
    expect(fine.status).toBe(200);
    await fine.text();
  });

  it.each(["__Host-a=b", "__Secure-a=b"])("refuses the cookie %s of a page without TLS", async (cookie) => {
    expect(await errorOf(await post("metadata", "/", { cookies: [cookie] }))).toEqual([
      400,
      "invalid_request",
      "cookies",
    ]);
  });

  it("sends secrets only to the page's own origin", async () => {
    const response = await post("thumbs", "/secret", { ...SECRETS, delay: 1 });
    expect([response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    for (const path of ["/secret", "/image", "/data"]) {
      const found = arrivals.filter((arrival) => arrival.path === path);
      for (const { isElsewhere, secrets } of found)
        expect([path, isElsewhere, secrets]).toEqual([path, isElsewhere, isElsewhere ? [] : VALUES]);
      expect(found.length).toBe(path === "/secret" ? 1 : 2);
    }
  });

  it.each(["/leave", "/leave-by-script"])(
    "sends no secrets after the page leads to another origin: %s",
    async (path) => {
      const response = await post("thumbs", path, { ...SECRETS, delay: 1 });
      expect([response.status, response.headers.get("x-page-url")]).toEqual([
        200,
        `${pages.otherOrigin}/landed`,
      ]);
      await response.arrayBuffer();
      const found = arrivals.filter(({ path: at }) => ["/landed", "/from-other"].includes(at));
      expect(found.map(({ secrets }) => secrets)).toEqual([[], []]);
      expect(arrivals.find((arrival) => arrival.path === path)?.secrets).toEqual(VALUES);
    },
  );

  it("selects the format of the content, one element, and data by selectors", async () => {
    const document = `<h1>Shop</h1><ul id=list></ul><a href="https://example.com/x" rel=next>more</a>
      <script>list.innerHTML = "<li class=price>5</li><li class=price>7 <b>now</b></li>"</script>`;
    const content = async (options: object) => {
      const response = await pages.post("content", { html: document, ...options });
      return [response.status, await response.text()] as const;
    };
    expect(await content({ format: "markdown", output: "raw" })).toEqual([
      200,
      "# Shop\n\n- 5\n- 7 **now**\n\n[more](https://example.com/x)\n",
    ]);
    const [, data] = await content({ elements: [".price", "a", "video"], selector: "b" });
    expect(JSON.parse(data)).toMatchObject({
      content: "<b>now</b>",
      data: [
        { selector: ".price", results: [{ text: "5", attributes: { class: "price" } }, { text: "7 now" }] },
        { selector: "a", results: [{ attributes: { href: "https://example.com/x", rel: "next" } }] },
        { selector: "video", results: [] },
      ],
    });
    expect((await content({ selector: "video" }))[0]).toBe(404);
    expect((await content({ elements: ["::"] }))[0]).toBe(400);
  });
});
