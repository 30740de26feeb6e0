import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { colourAt, GREEN, html, isSimilarColour, RED, readPicture, useSite } from "../support/pages.ts";

const fill = (colour: string) => `<div style="height:1200px;background:${colour}"></div>`;

describeWithBrowser("the set-up of a page by the caller", () => {
  let asked: string[] = [];

  const pages = useSite((_, response, { pathname }) => {
    asked.push(pathname);
    if (pathname === "/gone") {
      response.statusCode = 404;
      return html(response, "gone");
    }
    if (pathname === "/missing.png") {
      response.statusCode = 404;
      return response.end();
    }
    if (pathname === "/broken") return html(response, `${fill("red")}<img src="/missing.png">`);
    if (pathname === "/throws") return html(response, `${fill("red")}<script>missing()</script>`);
    if (pathname === "/strict") {
      response.setHeader("content-security-policy", "default-src 'none'");
      return html(response, fill("red").replace("style", "id=box data-style"));
    }
    if (pathname === "/types")
      return html(
        response,
        `<img src="/a.png"><script src="/a.js"></script><link rel=stylesheet href="/a.css">`,
      );
    return html(response, fill("red"));
  });

  const post = (operation: string, body: object, headers: Record<string, string> = {}) =>
    pages.gateway.fetch(`/v1/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const send = (path: string, type: string, body: string) =>
    pages.gateway.fetch(path, { method: "POST", headers: { "content-type": type }, body });
  const KEY = { authorization: "Bearer sk-dev" };

  const colourOf = async (response: Response) => colourAt(await readPicture(response), 100, 100);
  const isGreen = (colour: readonly number[]) => isSimilarColour(colour, GREEN);
  const isRed = (colour: readonly number[]) => isSimilarColour(colour, RED);
  async function errorOf(response: Response): Promise<unknown[]> {
    const { error }: { error: { code: string; param: string } } = JSON.parse(await response.text());
    return [response.status, error.code, error.param];
  }

  it("may contain the whole page, as a body of HTML or as a member of a JSON body", async () => {
    const document = `<!doctype html><body style="margin:0">${fill("red")}<script>
      let opaque = origin === "null";
      try { document.cookie; opaque = false } catch {}
      if (opaque) document.querySelector("div").style.background = "green"</script>`;
    expect(
      await colourOf(await send("/v1/thumbs?format=png", "text/html; charset=utf-8", document)),
    ).toSatisfy(isGreen);
    const answer = await post("thumbs", { html: document, format: "png" });
    expect(answer.headers.get("x-page-url")).toBe("https://page.invalid/");
    expect(await colourOf(answer)).toSatisfy(isGreen);
    const again = await post("thumbs", { html: document, format: "png" });
    expect(again.headers.get("x-cache")).toBe("HIT");
    await again.arrayBuffer();
    const other = await post("thumbs", { html: document.replace('"green"', '"red"'), format: "png" });
    expect(other.headers.get("x-cache")).toBe("MISS");
    expect(await colourOf(other)).toSatisfy(isRed);
  });

  it("may contain a page in Markdown with tables, whose words metadata count", async () => {
    const text =
      "# Report\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n**bold** <script>document.title = 'no'</script>";
    const sized = await send("/v1/thumbs?selector=table%20td&output=json", "text/markdown", text);
    expect(sized.status).toBe(200);
    await sized.arrayBuffer();
    const metadata = await send("/v1/metadata", "text/markdown", text);
    const body: Record<string, unknown> = JSON.parse(await metadata.text());
    // The script is text: it is shown, and its words count.
    expect([metadata.status, body["wordCount"], body["url"]]).toEqual([200, 11, "https://page.invalid/"]);
    const pdf = await post("thumbs", { markdown: text, format: "pdf" });
    expect(Buffer.from(await pdf.arrayBuffer()).toString("latin1", 0, 5)).toBe("%PDF-");
  });

  it("loads one address of a body at once", async () => {
    expect(await colourOf(await post("thumbs", { url: `${pages.origin}/red`, format: "png" }))).toSatisfy(
      isRed,
    );
    const technologies = await post("technologies", {
      html: '<meta name="generator" content="WordPress 6.5">',
    });
    expect(JSON.parse(await technologies.text()).applications).toContainEqual(
      expect.objectContaining({ name: "WordPress", version: "6.5" }),
    );
  });

  it.each([
    [{ html: "<p>", url: "example.com" }, "urls"],
    [{ html: " " }, "html"],
    [{ html: "<p>", headers: ["a: b"] }, null],
  ])("refuses a body of %j", async (body, param) => {
    expect(await errorOf(await post("thumbs", body, KEY))).toEqual([400, "invalid_request", param]);
  });

  it("refuses a document beside an address, and one for a job", async () => {
    for (const [query, param] of [
      ["url=example.com", "url"],
      ["async=true", "async"],
    ])
      expect(await errorOf(await send(`/v1/thumbs?${query}`, "text/html", "<p>"))).toEqual([
        400,
        "invalid_request",
        param,
      ]);
    expect((await send("/v1/thumbs", "text/html", `<p>${"x".repeat(1_100_000)}`)).status).toBe(413);
  });

  it("adds styles and runs scripts despite the page's own policy, only with a key", async () => {
    const url = `${pages.origin}/strict`;
    const styles = ["#box { height: 1200px; background: red }"];
    const scripts = [
      "await new Promise((resolve) => setTimeout(resolve, 50)); globalThis.colour = 'green'",
      "box.style.background = colour",
    ];
    const options = { url, format: "png", styles };
    expect(await colourOf(await post("thumbs", options, KEY))).toSatisfy(isRed);
    expect(await colourOf(await post("thumbs", { ...options, scripts }, KEY))).toSatisfy(isGreen);
    expect(await errorOf(await post("thumbs", options))).toEqual([403, "permission_denied", "styles"]);
    const failing = await post("thumbs", { url, scripts: ["nowhere()"] }, KEY);
    expect([failing.status, await failing.text()]).toEqual([
      400,
      expect.stringContaining("nowhere is not defined"),
    ]);
  });

  it.each([
    ["/gone", { failOnStatus: ["5xx", "4xx"] }, "failOnStatus"],
    ["/broken", { failOnResourceLoadingFailed: true }, "failOnResourceLoadingFailed"],
    ["/throws", { failOnConsoleErrors: true }, "failOnConsoleErrors"],
  ])("fails for %s with %j", async (path, rule, param) => {
    const url = pages.origin + path;
    for (const operation of ["thumbs", "metadata"]) {
      expect(await errorOf(await post(operation, { url, ...rule }))).toEqual([422, "page_failed", param]);
      const fine = await post(operation, { url: `${pages.origin}/red`, ...rule });
      expect([fine.status, (await fine.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    }
  });

  it("blocks types of resources", async () => {
    asked = [];
    const query = new URLSearchParams([
      ["url", `${pages.origin}/types`],
      ["blockResources", "image"],
      ["blockResources", "script"],
      ["failOnResourceLoadingFailed", "true"],
    ]);
    const response = await pages.gateway.fetch(`/v1/thumbs?${query}`);
    expect([response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
    expect(asked.filter((path) => path.startsWith("/a."))).toEqual(["/a.css"]);
  });

  it("selects the format of the content, one element, and data by selectors", async () => {
    const document = `<h1>Shop</h1><ul id=list></ul><a href="https://example.com/x" rel=next>more</a>
      <script>list.innerHTML = "<li class=price>5</li><li class=price>7 <b>now</b></li>"</script>`;
    const content = async (options: object) => {
      const response = await post("content", { html: document, ...options });
      return {
        status: response.status,
        text: await response.text(),
        type: response.headers.get("content-type"),
      };
    };
    const markdown = await content({ format: "markdown", output: "raw" });
    expect(markdown).toEqual({
      status: 200,
      text: "# Shop\n\n- 5\n- 7 **now**\n\n[more](https://example.com/x)\n",
      type: "text/plain; charset=utf-8",
    });
    const whole = await content({ html: `<!doctype html><!-- a -->${document}`, output: "raw" });
    expect(whole.text).toMatch(/^<!DOCTYPE html>\n<!-- a -->\n<html>/);
    const data = JSON.parse((await content({ elements: [".price", "a", "video"], selector: "b" })).text);
    expect(data).toMatchObject({
      format: "html",
      content: "<b>now</b>",
      data: [
        { selector: ".price", results: [{ text: "5", attributes: { class: "price" } }, { text: "7 now" }] },
        { selector: "a", results: [{ attributes: { href: "https://example.com/x", rel: "next" } }] },
        { selector: "video", results: [] },
      ],
    });
    expect((await content({ selector: "video" })).status).toBe(404);
    expect((await content({ elements: ["::"] })).status).toBe(400);
    const asked = await pages.gateway.fetch(
      `/v1/content?${new URLSearchParams({ url: `${pages.origin}/gone`, format: "text" })}`,
    );
    expect([asked.headers.get("x-page-status"), JSON.parse(await asked.text()).content]).toEqual([
      "404",
      "gone\n",
    ]);
  });
});
