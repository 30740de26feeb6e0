import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { cacheFolder } from "../../scripts/development.mjs";
import { describeWithBrowser } from "../support/browser.ts";
import { goTo, useConsole } from "../support/use-console.ts";

/** `FIGURES=1` prints the height of each page; `RECORDS` is the number of requests, which are the slowest to make. */
const FIGURES = process.env["FIGURES"] !== undefined;
const RECORDS = Number(process.env["RECORDS"] ?? "150");
/** `PICTURES=1` keeps pictures of the whole pages, for people to look at. */
const PICTURES = process.env["PICTURES"] === undefined ? null : join(cacheFolder, "console-pictures");

const ACCOUNTS = 500;
const KEYS = 200;
/** Of everything else that an operator can add. */
const ENTRIES = 60;
/** Requests at once. */
const PARALLEL = 25;

/** Every page, and a text that it has when it has loaded. */
const PAGES = [
  ["overview", "Slots in use"],
  ["usage", "Key 1"],
  ["history", "Hello number"],
  ["captures", "Samples"],
  ["alerts", "Webhook 1"],
  ["audit", "/admin/administrators"],
  ["connect", "Base addresses"],
  ["playground", "No messages yet."],
  ["pages", "Take picture"],
  ["accounts", "account-0"],
  ["keys", "Key 1"],
  ["teams", "Team 1"],
  ["providers", "engine-1"],
  ["providers/engine-1", "model-1"],
  ["proxies", "Proxy 1"],
  ["models", "route-1"],
  ["administrators", "person-1"],
  ["guardrails", "Rule 1"],
  ["settings", "Storage"],
  ["transfer", "Download JSON"],
  ["hosting", "never synced"],
] as const;

const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const keyAt = (index: number): string => `sk-heights-${index}`;

describeWithBrowser("the length of the console's pages", () => {
  const app = useConsole();

  // Without the checks of `app.fetch`, which thousands of equal answers do not need.
  const ask = async (index: number) => {
    const failing = index % 20 === 0 ? "[[status:500:internal]] " : "";
    const answer = await fetch(new URL("/v1/chat/completions", app.gateway.url), {
      method: "POST",
      headers: { authorization: `Bearer ${keyAt(index % KEYS)}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: index % 3 === 0 ? "gpt-4o" : "provider-v4-pro",
        messages: [{ role: "user", content: `${failing}Hello number ${index}, and a question with words` }],
      }),
    });
    await answer.text();
  };

  beforeAll(async () => {
    if (PICTURES !== null) mkdirSync(PICTURES, { recursive: true });
    const config = {
      accounts: list(ACCOUNTS - 3, (index) => ({
        email: `account-${index}@sandbox.test`,
        password: "sandbox",
      })),
      api_keys: list(KEYS, (index) => ({
        key: keyAt(index),
        name: `Key ${index + 1}`,
        remark: "of a colleague",
        limits: { requests_per_minute: 600, tokens_per_day: 1_000_000, cost_per_day: 20 },
      })),
      teams: list(ENTRIES, (index) => ({ id: `team-${index}`, name: `Team ${index + 1}` })),
      providers: list(ENTRIES, (index) => ({
        id: `engine-${index + 1}`,
        driver: "openai",
        base_url: "http://engine.test/v1",
        models: Object.fromEntries(list(ENTRIES, (model) => [`model-${model + 1}`, `model-${model + 1}`])),
      })),
      model_aliases: Object.fromEntries(list(ENTRIES, (index) => [`alias-${index + 1}`, "provider-v4-pro"])),
      model_routes: Object.fromEntries(
        list(ENTRIES, (index) => [`route-${index + 1}`, ["engine-1/model-1", "provider-v4-pro"]]),
      ),
      prices: Object.fromEntries(list(ENTRIES, (index) => [`priced-${index}`, { input: 1, output: 2 }])),
    };
    const imported = await app.admin("POST", "/admin/config/import", { config, mode: "merge" });
    expect(imported).toMatchObject({ status: 200 });
    // A merging import does not change settings.
    await app.admin("PUT", "/admin/settings", {
      history: { limit: Math.max(RECORDS, 200) },
      captures: { enabled: true },
    });
    await app.admin("PUT", "/admin/guardrails", {
      rules: list(20, (index) => ({
        id: `rule-${index}`,
        name: `Rule ${index + 1}`,
        type: "size",
        max_chars: 99,
      })),
    });
    await app.admin("PUT", "/admin/alerts", {
      webhooks: list(12, (index) => ({
        name: `Webhook ${index + 1}`,
        url: `https://chat.example/${index}`,
        format: "json",
      })),
    });
    // An import adds the proxies of its accounts alone.
    for (const index of list(ENTRIES, (each) => each)) {
      const proxy = {
        id: `proxy-${index}`,
        name: `Proxy ${index + 1}`,
        type: "http",
        host: "127.0.0.1",
        port: 9,
      };
      await app.admin("POST", "/admin/proxies", proxy);
    }
    for (const index of list(12, (each) => each)) {
      const person = { id: `person-${index}`, role: "operator", email: `person-${index}@example.com` };
      await app.admin("POST", "/admin/administrators", person);
    }
    let next = 0;
    const askAll = async () => {
      while (next < RECORDS) {
        next += 1;
        await ask(next - 1);
      }
    };
    await Promise.all(list(PARALLEL, askAll));
  }, 1_200_000);

  /** The height of a page once it has not grown for half a second. */
  async function measure(page: Page): Promise<number> {
    let height = 0;
    for (let unchanged = 0; unchanged < 2; unchanged += 1) {
      await page.waitForTimeout(250);
      const now = Number(await page.evaluate("document.documentElement.scrollHeight"));
      if (now !== height) unchanged = -1;
      height = now;
    }
    return height;
  }

  it.each([
    [1_440, 860],
    [390, 860],
  ])(
    "is at most four screens, %i pixels wide",
    async (width, screen) => {
      const signedOut = await app.open({ width });
      const page = await app.at("connect", { width });
      const figures: Record<string, number> = {};
      const check = async (name: string, shown = page) => {
        const screens = (await measure(shown)) / screen;
        figures[name] = Number(screens.toFixed(1));
        expect.soft(screens, `${name}, ${width} pixels wide`).toBeLessThanOrEqual(4);
        expect
          .soft(await shown.evaluate("document.documentElement.scrollWidth"), name)
          .toBeLessThanOrEqual(width);
        if (PICTURES !== null) {
          const path = join(PICTURES, `full-${name.replace("/", "-")}-${width}.png`);
          await shown.screenshot({ path, fullPage: true });
        }
      };
      await signedOut.getByRole("button", { name: "Sign in" }).waitFor();
      await check("sign-in", signedOut);
      for (const [name, text] of PAGES) {
        await goTo(page, name);
        await page.getByRole("main").getByText(text).first().waitFor();
        await check(name);
      }
      await goTo(page, "history");
      await page.getByRole("link", { name: "Hello number" }).first().click();
      await page.getByRole("region", { name: "Answer" }).waitFor();
      await check("record");
      await page.goto("/key");
      await page.getByLabel("API key").fill(keyAt(1));
      await page.keyboard.press("Enter");
      await page.getByText("Key 2").first().waitFor();
      await check("key");
      if (FIGURES) process.stdout.write(`${width} pixels: ${JSON.stringify(figures)}\n`);
    },
    300_000,
  );
});
