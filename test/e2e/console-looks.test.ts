import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { cacheFolder } from "../../scripts/development.mjs";
import { describeWithBrowser } from "../support/browser.ts";
import { goTo, signIn, useConsole, violations } from "../support/use-console.ts";

/** Where pictures go, for people to look at, when they are asked for: `PICTURES=1`. */
const PICTURES = process.env["PICTURES"] === undefined ? null : join(cacheFolder, "console-pictures");
/** Every page, and a text that it has when it has loaded. */
const PAGES = [
  ["overview", "3 of 3 accounts free"],
  ["usage", "By key"],
  ["history", "Hello there"],
  ["captures", "No samples are kept."],
  ["alerts", "No webhooks yet"],
  ["audit", "POST /admin/login"],
  ["connect", "Base addresses"],
  ["playground", "No messages yet."],
  ["pages", "Take picture"],
  ["accounts", "three@sandbox.test"],
  ["keys", "development"],
  ["teams", "Research"],
  ["providers", "http://engine.test/v1"],
  ["proxies", "Office"],
  ["models", "provider-v4-pro-nothinking"],
  ["administrators", "Grace Hopper"],
  ["guardrails/cards", "Card numbers"],
  ["settings", "Storage"],
  ["transfer", "Download JSON"],
  ["hosting", "never synced"],
] as const;

describeWithBrowser("how the console looks", () => {
  const app = useConsole();

  beforeAll(async () => {
    if (PICTURES !== null) mkdirSync(PICTURES, { recursive: true });
    await app.admin("PUT", "/admin/settings", {
      model_aliases: { "house-model": "provider-v4-pro" },
      captures: { enabled: true },
      runtime: { account_failovers: 3 },
    });
    await app.admin("POST", "/admin/proxies", { name: "Office", type: "http", host: "127.0.0.1", port: 9 });
    const small = {
      upstream: "org/qwen3-0.6b-instruct-with-a-long-name",
      enabled: false,
      vision: false,
      context: 32_768,
      output: 8_192,
      price: { input: 0.1, output: 0.4 },
    };
    const engine = {
      id: "engine",
      driver: "openai",
      base_url: "http://engine.test/v1",
      enabled: false,
      models: { "qwen3:8b": "qwen3:8b", small },
    };
    await app.admin("POST", "/admin/providers", engine);
    const cards = { pattern: "\\d{16}", action: "mask", replacement: "[card]" };
    await app.admin("PUT", "/admin/guardrails", {
      rules: [
        { id: "cards", name: "Card numbers", type: "expressions", applies_to: "keys", expressions: [cards] },
        { id: "size", type: "size", max_chars: 1_000, applies_to: "keys", disabled: true },
      ],
    });
    const limits = { requests_per_minute: 60, tokens_per_day: 1_000_000, cost_per_month: 200 };
    const grace = { id: "grace", name: "Grace Hopper", role: "viewer", email: "grace@example.com" };
    await app.admin("POST", "/admin/administrators", grace);
    await app.admin("POST", "/admin/teams", { id: "research", name: "Research", limits, models: ["gpt-*"] });
    for (const text of ["Hello there", "[[status:500:internal]]", "[[call:lookup:{}]]"]) {
      await (await app.chat(text)).text();
    }
  });

  /** Colours are checked in both themes and layouts in both widths; the other two are for the eye. */
  const looks = [
    { theme: "light", width: 1_280, checked: true },
    { theme: "dark", width: 390, checked: true },
    { theme: "light", width: 390, checked: false },
    { theme: "dark", width: 1_280, checked: false },
  ] as const;
  const seen = looks.filter(({ checked }) => checked || PICTURES !== null);
  describe.each(seen)("$theme, $width pixels wide", ({ theme, width, checked }) => {
    it("is accessible on every page, and no page is wider than the screen", async () => {
      const page = await app.open({ theme, width });
      const shoot = async (name: string) => {
        if (PICTURES === null) return;
        const path = join(PICTURES, `${name.replace("/", "-")}-${theme}-${width}.png`);
        await page.screenshot({ path, fullPage: name !== "overview" });
      };
      const check = async (name: string) => {
        if (checked) expect.soft(await violations(page), name).toEqual([]);
      };
      await page.getByLabel("Admin key or password").waitFor();
      await check("sign-in");
      await shoot("sign-in");
      await signIn(page);
      for (const [name, text] of PAGES) {
        await goTo(page, name);
        await page.getByRole("main").getByText(text).first().waitFor();
        await check(name);
        expect
          .soft(await page.evaluate("document.documentElement.scrollWidth"), name)
          .toBeLessThanOrEqual(width);
        await shoot(name);
      }
      await goTo(page, "providers");
      await page.getByRole("link", { name: "2 models, 1 disabled of engine" }).click();
      await page.getByRole("button", { name: "Edit small" }).waitFor();
      await check("models of a provider");
      await shoot("models-of-a-provider");
      await page.getByRole("button", { name: "Edit small" }).click();
      await page.getByLabel("Context (tokens)").waitFor();
      await check("a model");
      await shoot("model");
      await page.keyboard.press("Escape");
      await goTo(page, "accounts");
      await page.getByRole("button", { name: "Add account" }).click();
      await check("a dialog");
      await shoot("dialog");
      await page.keyboard.press("Escape");
      await goTo(page, "history");
      await page.getByRole("link", { name: "Hello there" }).click();
      await page.getByRole("region", { name: "Answer" }).waitFor();
      await check("a record");
      await shoot("record");
      // Some twenty pages, each checked for accessibility.
    }, 120_000);
  });

  it("changes its colours by a button, and remembers them", async () => {
    const page = await app.at("keys", { theme: "light" });
    const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await background();
    await page.getByRole("button", { name: "Colours: auto" }).click();
    await page.getByRole("button", { name: "Colours: light" }).click();
    await page.getByRole("button", { name: "Colours: dark" }).waitFor();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole("button", { name: "Colours: dark" }).waitFor();
    expect(await background()).toBe(dark);
  });

  it.each([420, 900])("reaches every part of its menu, %i pixels high", async (height) => {
    const page = await app.at("hosting", { width: 1_440 });
    await page.setViewportSize({ width: 1_440, height });
    const signOut = page.getByRole("button", { name: "Sign out" });
    const isVisible = async (locator: Locator) => {
      const box = await locator.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= height;
    };
    // On a usual screen the foot is visible at once.
    if (height === 900) expect(await isVisible(signOut)).toBe(true);
    for (const part of [page.getByRole("link", { name: "Overview" }).last(), signOut]) {
      await part.scrollIntoViewIfNeeded();
      expect(await isVisible(part)).toBe(true);
    }
  });

  it("unfolds its navigation on a narrow screen", async () => {
    const page = await app.at("overview", { width: 390 });
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.getByRole("link", { name: "Proxies" }).waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Proxies" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Proxies" }).waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Menu");
  });

  it.each([1_280, 375])("keeps who made a change apart from the address, %i pixels wide", async (width) => {
    const page = await app.at("overview", { width });
    // The platform vouches for an address, which tests do not have.
    await page.route("**/admin/audit*", async (route) => {
      // A narrow screen asks for the newest entries alone.
      const url = route
        .request()
        .url()
        .replace(/page_size=\d+/, "page_size=100");
      const response = await route.fetch({ url });
      const { items, ...rest } = await response.json();
      const addressed = items
        .filter((item: object) => JSON.stringify(item).includes("runtime.account_failovers"))
        .map((item: object) => ({ ...item, address: "2001:db8:85a3::8a2e:370:7334" }));
      await route.fulfill({ response, json: { ...rest, items: addressed } });
    });
    await goTo(page, "audit");
    const row = page.getByRole("row").filter({ hasText: "runtime.account_failovers" });
    const who = await row.getByText("admin key or password", { exact: true }).boundingBox();
    const address = await row.getByText("2001:db8:85a3::8a2e:370:7334", { exact: true }).boundingBox();
    expect(address?.y).toBeGreaterThanOrEqual((who?.y ?? 0) + (who?.height ?? 0));
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });

  it.each([1_440, 1_280, 390])(
    "breaks no word or number of a changed value, %i pixels wide",
    async (width) => {
      const page = await app.at("overview", { width });
      const price = {
        input: 0.123456,
        output: 1234567.125,
        cache_read: 0.0625,
        cache_write_5m: 12345.678901,
      };
      const before = JSON.stringify({ small: { name: "small", price, context: 1048576, output: 131072 } });
      const after = JSON.stringify({
        statuses: [408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529, 530],
      });
      await page.route("**/admin/audit*", async (route) => {
        const response = await route.fetch();
        const { items, ...rest } = await response.json();
        const change = { path: "providers[engine].models", before, after };
        await route.fulfill({
          response,
          json: { ...rest, items: [{ ...items[0], changes: [change], more: 0 }] },
        });
      });
      await goTo(page, "audit");
      await page.getByText("providers[engine].models").waitFor();
      const broken = await page.evaluate(`(() => {
      const walker = document.createTreeWalker(document.querySelector(".field-changes"), NodeFilter.SHOW_TEXT);
      const places = [];
      while (walker.nextNode())
        for (let offset = 0; offset < walker.currentNode.length; offset++) places.push([walker.currentNode, offset]);
      const text = places.map(([node, offset]) => node.data[offset]).join("");
      const broken = [];
      for (const { 0: word, index } of text.matchAll(/[\\w.]+/g)) {
        const range = document.createRange();
        const [end, last] = places[index + word.length - 1];
        range.setStart(...places[index]);
        range.setEnd(end, last + 1);
        if (new Set(Array.from(range.getClientRects(), ({ top }) => top)).size > 1) broken.push(word);
      }
      return broken;
    })()`);
      expect(broken).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    },
  );

  it("shows long names of accounts as a whole on a phone, each row below the one before", async () => {
    const name = "The mailbox of the finance department, number seven of nine, in Hamburg";
    const emails = ["seven", "eight"].map(
      (word) => `a-mailbox-of-the-finance-department.number-${word}@accounts.subsidiary.example.com`,
    );
    const add = (email: string) => app.admin("POST", "/admin/accounts", { email, name, password: "none" });
    for (const email of emails) expect(await add(email)).toMatchObject({ status: 200 });
    const page = await app.at("accounts", { width: 390 });
    const rows = page.getByRole("row").filter({ hasText: name });
    await expect.poll(() => rows.count()).toBe(emails.length);
    const cut = await page
      .locator(".account-name .cut")
      .evaluateAll((lines) =>
        lines.filter((line) => line.scrollWidth > line.clientWidth).map(({ textContent }) => textContent),
      );
    expect(cut).toEqual([]);
    const ends = () =>
      page
        .getByRole("row")
        .evaluateAll((all) =>
          all.map((row) => row.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]),
        )
        .then((boxes) => boxes.flat());
    await expect.poll(async () => (await ends()).toSorted((a, b) => a - b)).toEqual(await ends());
    for (const email of emails) await app.admin("DELETE", `/admin/accounts/${email}`);
  });

  it("draws each chart of the usage with its own data after the width has changed", async () => {
    const page = await app.at("usage");
    await page.getByRole("heading", { name: "Waiting for an account" }).waitFor();
    const drawings = () =>
      page
        .getByRole("figure")
        .evaluateAll((charts) =>
          charts.map((chart) => [
            chart.querySelector("h2")?.textContent,
            chart.querySelector("canvas")?.toDataURL(),
          ]),
        );
    // Plots are drawn in the next frames.
    await page.waitForTimeout(500);
    const before = await drawings();
    for (const width of [390, 1_280]) {
      await page.setViewportSize({ width, height: 860 });
      await page.waitForTimeout(500);
    }
    await expect.poll(drawings).toEqual(before);
  });

  it.each([1_280, 1_024])("cuts off no list of the overview, %i pixels wide", async (width) => {
    const page = await app.at("keys", { width });
    // More requests than a test can send.
    await page.route("**/admin/usage*", async (route) => {
      const response = await route.fetch();
      const { items, ...rest } = await response.json();
      const busy = items.map((item: object) => ({
        ...item,
        requests: 123_456,
        failed: 35_802,
        refused: 0,
        attempts: 123_456,
        failed_attempts: 35_802,
        cost: 1234.56,
        prompt_tokens: 123_456_789,
        cached_tokens: 98_765_432,
        cache_write_5m_tokens: 12_345_678,
      }));
      await route.fulfill({ response, json: { ...rest, items: busy } });
    });
    await goTo(page, "overview");
    await page.getByRole("columnheader", { name: "Failed attempts" }).last().waitFor();
    await page.getByRole("heading", { name: "Prompt cache hit rate" }).waitFor();
    const cut = await page
      .locator(".top-lists .table-box")
      .evaluateAll((boxes) =>
        boxes
          .filter((box) => box.scrollWidth > box.clientWidth)
          .map((box) => `${box.scrollWidth} in ${box.clientWidth}: ${box.querySelector("tr")?.innerText}`),
      );
    expect(cut).toEqual([]);
  });

  it.each(["en-GB", "de", "zh-CN"])("cuts off no placeholder of the history, in %s", async (locale) => {
    for (const width of [1_280, 390]) {
      const page = await app.at("history", { width, locale });
      await page.getByRole("searchbox").waitFor();
      const room = await page.evaluate(`(() => {
        const input = document.querySelector("input[type=search]");
        const { paddingLeft, paddingRight, font } = getComputedStyle(input);
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = font;
        const text = pen.measureText(input.placeholder).width;
        return input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - text;
      })()`);
      expect(room).toBeGreaterThan(0);
    }
  });

  it("shows every tab of the playground on a phone", async () => {
    const page = await app.at("playground", { width: 390 });
    for (const tab of await page.getByRole("tab").all()) {
      const box = await tab.boundingBox();
      const list = await page.getByRole("tablist").boundingBox();
      if (box === null || list === null) throw new Error("it is not shown");
      expect.soft(box.x, "start").toBeGreaterThanOrEqual(list.x);
      expect.soft(box.x + box.width, "end").toBeLessThanOrEqual(list.x + list.width);
    }
  });

  it("leaves room for a record above the buttons on a phone", async () => {
    const page = await app.at("history", { width: 390 });
    await page.getByRole("link", { name: "Hello there" }).click();
    const note = await page.getByText(/^Sent again without/).boundingBox();
    expect(note?.height).toBeLessThan(120);
  });

  it.each([1_280, 900, 375])(
    "keeps the buttons that edit and delete a key on one line, %i pixels wide",
    async (width) => {
      const page = await app.at("keys", { width });
      const row = page.getByRole("row").filter({ hasText: "development" });
      const [edit, remove] = await Promise.all(
        ["Edit", "Delete"].map((name) => row.getByRole("button", { name, exact: true }).boundingBox()),
      );
      expect(remove?.y).toBe(edit?.y);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    },
  );

  it("shows the URL of a screenshot with an example until an address is typed", async () => {
    const page = await app.at("pages");
    const url = page.getByRole("region", { name: "URL of the screenshot" });
    await expect.poll(() => url.innerText()).toContain("/v1/thumbs?url=example.com&size=x");
    await page.getByLabel("Address").fill("example.org");
    await expect.poll(() => url.innerText()).toContain("/v1/thumbs?url=example.org&size=x");
  });

  it.each([1_280, 375])("keeps the options of a picture apart, %i pixels wide", async (width) => {
    const page = await app.at("pages", { width });
    await page.getByText("More options").click();
    const field = await page.getByLabel("Time zone").boundingBox();
    const box = await page.getByLabel("Load lazy images").boundingBox();
    expect((box?.y ?? 0) - (field?.y ?? 0) - (field?.height ?? 0)).toBeGreaterThan(8);
  });

  it.each([1_280, 375])(
    "lets nothing touch or cover what stands beside it, %i pixels wide",
    async (width) => {
      const page = await app.at("overview", { width });
      const boxOf = async (locator: Locator) => {
        const box = await locator.first().boundingBox();
        if (box === null) throw new Error("it is not shown");
        return { ...box, right: box.x + box.width, bottom: box.y + box.height };
      };
      const reason = "The engine cannot be reached: its name could not be resolved, nor could any other";
      await page.route("**/admin/providers*", async (route) => {
        const response = await route.fetch();
        const { items, ...rest } = await response.json();
        const asked = { at: 0, error: reason, added: 0 };
        const troubled = items.map((item: object) => ({ ...item, enabled: true, models_asked: asked }));
        await route.fulfill({ response, json: { ...rest, items: troubled } });
      });
      await goTo(page, "providers");
      const badge = await boxOf(page.getByText("model list unavailable"));
      const said = await boxOf(page.getByText(reason));
      expect(said.y).toBeGreaterThanOrEqual(badge.bottom);
      expect(said.right).toBeLessThanOrEqual(width);

      // A button with a border is not cut off by the box around it.
      await goTo(page, "proxies");
      const row = await boxOf(page.getByRole("row").filter({ hasText: "Office" }));
      expect((await boxOf(page.getByRole("button", { name: /^Test/ }))).x).toBeGreaterThanOrEqual(row.x);

      await goTo(page, "alerts");
      const title = await boxOf(page.locator("legend"));
      expect((await boxOf(page.getByLabel("Notify"))).y - title.bottom).toBeGreaterThanOrEqual(6);

      await goTo(page, "captures");
      await page.getByRole("link", { name: "completion" }).first().click();
      const dialog = await boxOf(page.getByRole("dialog"));
      const close = await boxOf(page.getByRole("button", { name: "Close" }));
      expect(close.right).toBeLessThanOrEqual(dialog.right - 10);
      expect((await boxOf(page.getByRole("dialog").getByRole("heading"))).right).toBeLessThanOrEqual(
        close.x - 4,
      );
    },
  );
});
