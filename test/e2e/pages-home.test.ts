import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { html, useSite } from "../support/pages.ts";
import { openSharedBrowser } from "../support/shared-browser.ts";

describeWithBrowser("the public page", () => {
  let page: Page;
  const complaints: string[] = [];
  const requests: string[] = [];

  const pages = useSite((_, response) =>
    html(response, `<h1>Hello</h1>`, `<meta name="generator" content="WordPress 6.5.2">`),
  );

  beforeAll(async () => {
    page = await (await openSharedBrowser()).newPage();
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(pages.gateway.url);
  });

  afterAll(async () => {
    await page.close();
  });

  it("explains both services and loads nothing from elsewhere", async () => {
    expect(await page.title()).toBe("Polygate");
    const text = await page.locator("main").innerText();
    expect(text).toContain(`${pages.gateway.url}/v1`);
    expect(text).toContain("Page service");
    expect(requests.filter((url) => !url.startsWith(pages.gateway.url))).toEqual([]);
  });

  it("is no wider than a phone", async () => {
    const phone = await (await openSharedBrowser()).newPage({ viewport: { width: 390, height: 844 } });
    await phone.goto(pages.gateway.url);
    await phone.getByText(`${pages.gateway.url}/anthropic`).waitFor();
    // An address of usual length.
    await phone.evaluate(
      "for (const span of document.querySelectorAll('.origin')) span.textContent = 'https://gateway.company.example.com'",
    );
    expect(await phone.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await phone.close();
  });

  it("lets pages of other origins read its headers", async () => {
    const other = await (await openSharedBrowser()).newPage();
    await other.goto(pages.origin);
    const read = `fetch("${pages.gateway.url}/v1/models", { headers: { authorization: "Bearer sk-unknown" } })
      .then(({ headers }) => [headers.get("x-request-id"), headers.get("access-control-allow-origin")])`;
    expect(await other.evaluate(read)).toEqual([expect.stringMatching(/^req_/), pages.origin]);
    await other.close();
  });

  it("takes a picture", async () => {
    await page.getByLabel("Web address").fill(`${pages.origin}/`);
    await page.getByLabel("Size of the picture").selectOption("l");
    await page.getByLabel("Phone").check();
    await page.getByRole("button", { name: "Take a picture" }).click();
    const image = page.getByRole("img");
    await image.waitFor();
    expect(
      await page.evaluate("document.images[0].decode().then(() => document.images[0].naturalWidth)"),
    ).toBe(400);
    expect(await page.getByRole("status").innerText()).toContain("400 by 300 pixels");
    expect(await page.getByRole("link", { name: /mobile=true/ }).getAttribute("href")).toContain("size=l");
  });

  it("takes a PDF without options that apply only to pictures", async () => {
    await page.getByLabel("Format").selectOption("pdf");
    await page.getByText("More options").click();
    await page.getByLabel("Margins of a PDF").fill("2cm");
    await page.getByRole("button", { name: "Take a picture" }).click();
    await page.getByRole("link", { name: "The PDF of" }).waitFor();
    expect(await page.getByRole("status").innerText()).toContain("1 sheet");
    const request = await page.getByRole("link", { name: /format=pdf/ }).getAttribute("href");
    expect(request).toContain("margins=2cm");
    expect(request).not.toContain("size=");
  });

  it("detects technologies", async () => {
    await page.getByRole("button", { name: "Detect technologies" }).click();
    await page.getByRole("rowheader", { name: "WordPress" }).waitFor();
    expect(await page.getByRole("row", { name: /WordPress/ }).innerText()).toContain("6.5.2");
  });

  it("reads metadata", async () => {
    await page.getByRole("button", { name: "Read metadata" }).click();
    await page.getByRole("rowheader", { name: "title" }).waitFor();
    expect(await page.getByRole("row", { name: /^title/ }).innerText()).toContain("Test");
  });

  it("shows errors", async () => {
    await page.getByLabel("Web address").fill("localhost");
    await page.getByRole("button", { name: "Take a picture" }).click();
    await expect.poll(() => page.getByRole("status").innerText()).toContain("url_host_forbidden");
    // The browser itself writes down the refused request.
    complaints.splice(
      0,
      complaints.length,
      ...complaints.filter((text) => !text.includes("400 (Bad Request)")),
    );
  });

  it("is accessible, and follows its content security policy", async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), {
      encoding: "utf8",
    });
    await page.evaluate(axe);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const violations: unknown = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
      );
      expect(violations).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });
});
