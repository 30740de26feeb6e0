import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { allowPrivateHosts } from "../../scripts/development.mjs";
import { describeWithBrowser } from "../support/browser.ts";
import { serve } from "../support/local-server.ts";
import { html } from "../support/pages.ts";
import { until } from "../support/until.ts";
import { goTo, saved, useConsole, violations } from "../support/use-console.ts";

const HEAD =
  '<meta name="generator" content="WordPress 6.5.2"><meta name="description" content="What it is about">' +
  '<link rel="alternate" type="application/rss+xml" title="News" href="/feed.xml">';

/** A page to take pictures of. */
const site = await serve((_, response) => html(response, "<h1>Hello</h1>", HEAD));
allowPrivateHosts(site.host);
afterAll(() => site.close());

describeWithBrowser("watching and trying in the console", () => {
  const app = useConsole({ vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" } });

  async function say(page: Page, text: string): Promise<void> {
    await page.getByLabel("Message").fill(text);
    await page.getByRole("button", { name: "Send", exact: true }).click();
  }

  it.each(["chat-completions", "responses", "messages", "content-generation", "model-runner"])(
    "runs a streamed tool call and its result in the playground, by %s",
    async (dialect) => {
      const page = await app.at("playground");
      await page.getByLabel("API style").selectOption(dialect);
      await page.getByLabel("Offer tools").check();
      await say(page, "use the tool get_weather for Paris");
      await page.getByRole("region", { name: "Conversation" }).getByText('{"city":"Paris"}').waitFor();
      await page.getByLabel("Result of get_weather").fill('{"temperature": 21}');
      await page.getByRole("button", { name: "Send result" }).click();
      await page.getByRole("region", { name: "Conversation" }).getByText("The tool answered:").waitFor();
      await page.getByText(/done after .* tokens in, .* tokens out/).waitFor();
      expect(await page.getByText("Reasoning", { exact: true }).count()).toBeGreaterThan(1);
      expect(await page.getByText(/^HTTP 200, \d+ events/).count()).toBe(1);

      await page.getByRole("tab", { name: "curl" }).click();
      const code = await page.getByRole("region", { name: "Code" }).innerText();
      expect(code).toContain("get_weather");
      expect(code).not.toContain("sk-dev");
    },
  );

  it("reads an answer in one piece, and shows an error as the caller gets it", async () => {
    const page = await app.at("playground");
    await page.getByLabel("Stream").uncheck();
    await say(page, "[[say:In one piece.]]");
    await page.getByText("In one piece.", { exact: true }).waitFor();
    await say(page, "[[status:500:internal]]");
    await page.getByRole("alert").waitFor();
    await page.getByText(/^HTTP 503, 1 event/).waitFor();
  });

  it("stops a generation on request", async () => {
    const page = await app.at("playground");
    await say(page, "[[slow:2000]] and so on and on");
    await page.getByText(/First token after/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send again" }).waitFor();
  });

  it("shows slots, rates and requests while they run", async () => {
    const page = await app.at("overview");
    // A request that an earlier test has stopped may still be ending.
    await page.getByText("None. They appear here while they run or wait.").waitFor();
    const running = await app.chat("[[slow:400]] one two three four five six seven", { stream: true });
    await page.getByRole("cell", { name: "runs" }).waitFor();
    await page.getByText(/^1 \/ 6$/).waitFor();
    await running.body?.cancel();
    await page.getByText("None. They appear here while they run or wait.").waitFor();
    await page.getByText("The admin key is the public development default").waitFor();
    expect(await page.locator(".plot canvas").count()).toBe(6);
    // The page requests only the entries that it shows.
    const polled = await page.waitForResponse((response) => response.url().includes("/admin/queue/status"));
    expect((await polled.body()).length).toBeLessThan(20 * 1_024);
    expect(polled.url()).toContain("most=");
    const tops = await Promise.all(
      ["Activity", "Slots"].map(
        async (name) => (await page.getByRole("region", { name, exact: true }).boundingBox())?.y,
      ),
    );
    expect(tops[0]).toBeLessThan(Number(tops[1]));
  });

  it("shows past failures, with links to their records", async () => {
    await app.chat("[[status:500:internal]] unseen");
    const page = await app.at("overview");
    const activity = page.getByRole("region", { name: "Activity" });
    const failure = activity.getByRole("link", { name: "503 upstream error" });
    await failure.waitFor();
    expect(await page.locator(".tile.bad, .tile.warn").filter({ hasText: "Errors" }).count()).toBe(1);
    const range = page.getByRole("button", { name: "15 min", exact: true });
    await range.click();
    expect(await range.getAttribute("aria-pressed")).toBe("true");
    expect(page.url()).toMatch(/#\/overview\?range=15m$/);
    // Pointing at a chart tells the time and the values there; a click leads to what happened then.
    const chart = page.getByRole("figure").filter({ hasText: "Requests and errors" });
    await chart.locator(".u-over").hover();
    await expect.poll(() => chart.locator("time").innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
    await chart.locator(".u-over").click();
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    expect(page.url()).toMatch(/#\/history\?from=/);
    await page.goBack();
    await failure.click();
    await page.getByRole("link", { name: /unseen/ }).waitFor();
    expect(page.url()).toMatch(/#\/history\?status=error&code=upstream_error&from=/);
  });

  it("shows a history record that grows while it is generated", async () => {
    const page = await app.at("history");
    const running = app.chat(`[[slow:250]] ${"word ".repeat(60)}`, { stream: true });
    await page.getByRole("cell", { name: "generating" }).first().waitFor();
    await page.getByRole("link", { name: /word word/ }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.waitFor();
    const early = (await answer.innerText()).length;
    await expect.poll(async () => (await answer.innerText()).length).toBeGreaterThan(early);
    await (await running).body?.cancel();

    const dialog = page.getByRole("dialog", { name: "Generation" });
    await dialog.getByRole("link", { name: "cancelled", exact: true }).waitFor();
    // The caller who left has used tokens, too.
    await expect.poll(() => dialog.getByText(/^[1-9]\d* in, [1-9]\d* out/).count()).toBe(1);
    await dialog.getByRole("tab", { name: "Reasoning" }).click();
    await dialog.getByRole("region", { name: "Reasoning" }).waitFor();
    await dialog.getByRole("button", { name: "Delete record" }).click();
    await page.getByRole("dialog", { name: "Delete this record?" }).getByText("cannot be undone").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.first().waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("link", { name: /word word/ }).count()).toBe(0);
  });

  it("filters the history, shows the calls as they came, and clears it", async () => {
    // Others of this file left records.
    await app.admin("DELETE", "/admin/chat-history");
    const page = await app.at("history");
    await app.chat("[[call:lookup:{}]]", { tools: [{ type: "function", function: { name: "lookup" } }] });
    await page.getByRole("link", { name: /call:lookup/ }).waitFor();
    await page.getByLabel(/^Search/).fill("nothing like this");
    await page.getByText("Nothing matches").waitFor();
    await page.getByLabel(/^Search/).fill("lookup");
    await page.getByRole("link", { name: /call:lookup/ }).waitFor();
    expect(page.url()).toContain("#/history?q=lookup");
    // Where one is, is in the address: a reload shows the same, and a link can be passed on.
    await page.reload();
    expect(await page.getByLabel(/^Search/).inputValue()).toBe("lookup");
    await page.getByRole("link", { name: /call:lookup/ }).click();
    expect(page.url()).toMatch(/#\/history\/hist_\w+\?q=lookup$/);
    await page.getByRole("tab", { name: "Tool calls" }).click();
    expect(await page.getByRole("region", { name: "Tool calls" }).innerText()).toContain(
      'invoke name="lookup"',
    );
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByLabel(/^Search/).fill("");
    // A request that never got as far as an account has none; its code can be searched for.
    await app.chat("[[say:nobody]]", {}, { "x-gateway-target-account": "nobody@sandbox.test" });
    await app.chat("[[status:500:server_error]]");
    await page.getByLabel(/^Search/).fill("error 503");
    const failed = page.getByRole("row", { name: /status:500:server_error/ });
    await failed.waitFor();
    expect(await failed.locator("time").innerText()).toMatch(/^\d+ \w{3} \d\d:\d\d:\d\d$/);
    expect(await failed.locator("time").getAttribute("title")).toMatch(/\d{4} .* (?:GMT|UTC)/);
    expect(await page.getByText("pass-through").count()).toBe(0);

    // Filters are in the address, too, and go into the export.
    await page.getByLabel(/^Search/).fill("");
    await page.getByText("Filters", { exact: true }).click();
    await page.getByLabel("Code", { exact: true }).fill("5xx");
    await page.getByText("Filters (1)").waitFor();
    await page.getByText("1 record;").waitFor();
    await failed.waitFor();
    expect(page.url()).toMatch(/#\/history\?code=5xx$/);
    await page.getByRole("button", { name: "Save filters" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Broken ones");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await saved(page.getByRole("dialog"));
    await page.goto(page.url().replace(/#.*/, "#/history"));
    await page.getByRole("button", { name: "Broken ones", exact: true }).click();
    await page.getByText("1 record;").waitFor();
    expect(page.url()).toMatch(/#\/history\?code=5xx$/);
    await page.getByRole("button", { name: "Delete Broken ones" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const exported = await readFile(await (await download).path(), "utf8");
    expect(exported.trimEnd().split("\r\n")).toHaveLength(2);
    // A pause keeps the shown entries.
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("link", { name: /call:lookup/ }).click();
    const steps = page.getByRole("list", { name: "Timeline" }).getByRole("listitem");
    await steps.filter({ hasText: "Attempt 1: provider-v4-flash with" }).waitFor();
    await steps.filter({ hasText: "Tool calls" }).waitFor();
    await page.getByRole("button", { name: "Edit and send" }).click();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Message" }).inputValue())
      .toBe("[[call:lookup:{}]]");
    await goTo(page, "history");

    // A record that is not there is said to be so, once.
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/hist_gone")) asked += 1;
    });
    await goTo(page, "history/hist_gone");
    await page.getByRole("alert").getByText("Record not found").waitFor();
    await page.waitForTimeout(1_500);
    expect(asked).toBe(1);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Clear history" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear history" }).click();
    await page.getByText("No generations yet").waitFor();
  });

  it("shows usage by key and model, exports it, leads to its history, and adds prices", async () => {
    await (await app.chat("[[say:for the books]]")).text();
    const page = await app.at("usage");
    const used = page.getByRole("region", { name: "By key" });
    // The gateway reports use within seconds. The page reads it every half minute.
    await until(
      async () => {
        await page.reload();
        return used
          .getByRole("link", { name: "development" })
          .waitFor({ timeout: 2_000 })
          .then(
            () => true,
            () => false,
          );
      },
      (there) => there,
    );
    await page.getByRole("button", { name: "Add price" }).click();
    await page.getByLabel("Model", { exact: true }).fill("provider-v4-flash");
    await page.getByLabel("Input price (per million tokens)", { exact: true }).fill("2");
    await page.getByLabel("Output price (per million tokens)").fill("8");
    await page.getByText("Reasoning, audio, images and searches").click();
    await page.getByLabel("Price of reasoning").fill("10");
    await page.getByRole("button", { name: "Save price" }).click();
    await page.getByText("Price saved").waitFor();
    await saved(page.getByRole("dialog"));
    const { body } = await app.admin("GET", "/admin/settings");
    expect(body["prices"]).toEqual({ "provider-v4-flash": { input: 2, output: 8, reasoning: 10 } });

    await page.getByRole("button", { name: "Models", exact: true }).click();
    await page.getByRole("button", { name: "Filter: provider-v4-flash" }).click();
    await page.getByRole("button", { name: "provider-v4-flash ×: remove this filter" }).waitFor();
    await page.getByRole("button", { name: "30 days" }).click();
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download by time (CSV)" }).click();
    const csv = readFileSync(await (await saving).path(), "utf8");
    expect(csv).toMatch(/^at,model,requests,/);
    expect(csv).toContain(",provider-v4-flash,");

    await page.getByRole("button", { name: "Keys", exact: true }).click();
    const today = new Date().toISOString().slice(0, 10);
    await page.getByLabel("From").fill("2026-01-01");
    await page.getByLabel("To", { exact: true }).fill(today);
    await page.getByRole("button", { name: "Show days" }).click();
    await used.getByRole("link", { name: "development" }).waitFor();
    expect(page.url()).toContain(`from=2026-01-01&to=${today}`);
    await used.getByText("new").first().waitFor();
    await page.getByText("nothing before").first().waitFor();
    await used.getByLabel("Sorted by").selectOption("Cost");
    await expect.poll(() => page.url()).toContain("sort=cost");
    const savingKeys = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download by time (CSV)" }).click();
    const csvOfKeys = readFileSync(await (await savingKeys).path(), "utf8");
    expect(csvOfKeys).toMatch(/,key_name\r\n/);
    expect(csvOfKeys).toMatch(/,development\r\n/);
    const savingTotals = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download totals (CSV)" }).click();
    const totals = readFileSync(await (await savingTotals).path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(totals.filter((line) => line.endsWith(",development"))).toHaveLength(1);
    await used.getByRole("link", { name: "development" }).click();
    await page.getByRole("link", { name: "for the books" }).first().waitFor();
  });

  it("captures exchanges with the provider, and keeps one as a sample", async () => {
    const page = await app.at("captures");
    await page.getByRole("button", { name: "Start capturing" }).click();
    await page.getByRole("button", { name: "Stop capturing" }).waitFor();
    await app.chat("[[say:Captured.]]");
    await page.getByRole("link", { name: "completion" }).click();
    await expect.poll(() => page.getByRole("region", { name: "Answer" }).innerText()).toContain("Captured");
    // The exchange leads to the record of its request, and that to its exchanges.
    await page.getByRole("link", { name: "The request in the history" }).click();
    await page.getByRole("link", { name: /say:Captured/ }).click();
    await page.getByRole("link", { name: "completion 200" }).click();
    await page.getByRole("heading", { level: 1, name: "Captures" }).waitFor();
    // Before the exchange is shown there is nothing to close.
    await page.getByRole("dialog").getByRole("region", { name: "Answer" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Keep completion as a sample" }).click();
    await page.getByRole("cell", { name: "1 round" }).waitFor();
    await page.getByRole("button", { name: /^Delete sample/ }).click();
    await page.getByText("No samples are kept.").waitFor();
    await page.getByRole("button", { name: "Stop capturing" }).click();
    await page.getByRole("button", { name: "Start capturing" }).waitFor();
  });

  it("moves between pages by the keyboard alone", async () => {
    const page = await app.at("overview");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
    await goTo(page, "playground");
    await page.getByRole("tab", { name: "Raw answer" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("tab", { name: "Request" }).getAttribute("aria-selected")).toBe("true");
  });

  it("takes a picture of a page, and detects its technologies", async () => {
    const page = await app.at("pages");
    await page.getByLabel("Address", { exact: true }).fill("localhost");
    await page.getByRole("button", { name: "Take picture" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(`${site.origin}/`);
    await page.getByLabel("Size").selectOption("l");
    await page.getByRole("button", { name: "Take picture" }).click();
    const picture = page.getByRole("img", { name: `The page ${site.origin}/` });
    await picture.waitFor({ timeout: 20_000 });
    // A new address that fails does not stand beside the picture of the old one.
    await page.getByLabel("Address", { exact: true }).fill("localhost");
    await page.getByRole("button", { name: "Take picture" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByText("The picture appears here.").waitFor();
    expect(await page.locator(".shot img").count()).toBe(0);
    await page.getByLabel("Address", { exact: true }).fill(`${site.origin}/`);
    await page.getByRole("button", { name: "Take picture" }).click();
    await picture.waitFor({ timeout: 20_000 });
    const width =
      "document.querySelector('.shot img').decode().then(() => document.querySelector('.shot img').naturalWidth)";
    expect(await page.evaluate(width)).toBe(400);
    await page.getByText("Signed link").click();
    await page.getByRole("button", { name: "Sign link" }).click();
    const link = await page.getByRole("region", { name: "Signed link" }).innerText();
    const signed = await page.request.get(link.trim());
    expect([signed.status(), signed.headers()["content-type"]]).toEqual([200, "image/jpeg"]);
    await page.getByRole("tab", { name: "Technologies" }).click();
    await page.getByLabel("Address", { exact: true }).fill(`${site.origin}/`);
    await page.getByRole("button", { name: "Detect" }).click();
    await page.getByRole("row", { name: /WordPress 6\.5\.2/ }).waitFor({ timeout: 20_000 });
  });

  it("reads metadata and technologies of a page from one load", async () => {
    const page = await app.at("pages");
    await page.getByRole("tab", { name: "Metadata" }).click();
    await page.getByLabel("Address", { exact: true }).fill(`${site.origin}/about`);
    await page.getByRole("button", { name: "Read metadata" }).click();
    const feed = page.getByRole("row", { name: /^Feed/ });
    await feed.waitFor({ timeout: 20_000 });
    await page.getByText(`Metadata of ${site.origin}/about`).waitFor();
    await page.getByRole("row", { name: /^Description What it is about/ }).waitFor();
    expect(await feed.getByRole("link").getAttribute("href")).toBe(`${site.origin}/feed.xml`);
    expect(await page.getByRole("row", { name: /WordPress/ }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);

    await page.getByLabel("Include technologies").check();
    await page.getByRole("button", { name: "Read metadata" }).click();
    await page.getByRole("row", { name: /WordPress 6\.5\.2/ }).waitFor({ timeout: 20_000 });
    await feed.waitFor();
    // What is of another address does not stand beside a refusal.
    await page.getByLabel("Address", { exact: true }).fill("localhost");
    await page.getByRole("button", { name: "Read metadata" }).click();
    await page.getByRole("alert").waitFor();
    expect(await feed.count()).toBe(0);
  });
});
