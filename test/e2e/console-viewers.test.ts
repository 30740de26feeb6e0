import { beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { goTo, signIn, useConsole } from "../support/use-console.ts";

const PASSWORD = "a password of eight and more";

/** Every page, and a text that it has when it has loaded. */
const PAGES = [
  ["overview", "Slots in use"],
  ["usage", "Prices per million tokens"],
  ["history", "Hello there"],
  ["captures", "No samples are kept."],
  ["alerts", "Chat channel"],
  ["audit", "audit"],
  ["connect", "Base addresses"],
  ["playground", "No messages yet."],
  ["pages", "Take picture"],
  ["accounts", "three@sandbox.test"],
  ["keys", "development"],
  ["teams", "Research"],
  ["providers", "http://engine.test/v1"],
  ["providers/engine", "qwen3:8b"],
  ["proxies", "Office"],
  ["models", "house-route"],
  ["settings", "Session lifetime"],
  ["transfer", "Download JSON"],
  ["hosting", "never synced"],
] as const;

/** Buttons that change nothing in the gateway, besides tabs: they filter, sort, turn pages, look something up, copy or write a draft. */
const HARMLESS =
  /^(?:\d+ (?:min|hours?|days)|1 hour|24 hours|7 days|Requests|Cost|Errors|Filter.*|Copy.*|Copied|Previous|Next|Live|Download.*|Save filters|Show days|Look up|Attach files|Send|Take picture|Read metadata|Detect.*|Look at.*|Try again|Choose a file|(?:Keys|Teams|Users|Tags|Models|Requested models|Accounts|Providers|API styles|Operations|Outcomes))$/;

describeWithBrowser("a viewer in the console", () => {
  const app = useConsole();

  beforeAll(async () => {
    await app.admin("PUT", "/admin/settings", {
      model_aliases: { "house-model": "provider-v4-pro" },
      model_routes: { "house-route": ["provider-v4-pro"] },
      prices: { "provider-v4-pro": { input: 1, output: 2 } },
    });
    await app.admin("POST", "/admin/proxies", { name: "Office", type: "http", host: "127.0.0.1", port: 9 });
    await app.admin("POST", "/admin/providers", {
      id: "engine",
      driver: "openai",
      base_url: "http://engine.test/v1",
      models: { "qwen3:8b": "qwen3:8b", small: "small" },
    });
    await app.admin("POST", "/admin/teams", { id: "research", name: "Research" });
    await app.admin("PUT", "/admin/alerts", {
      webhooks: [{ name: "Chat channel", url: "https://chat.example/hook", format: "json" }],
    });
    await app.admin("POST", "/admin/administrators", { id: "vera", role: "viewer", password: PASSWORD });
    await (await app.chat("Hello there")).text();
  });

  it("can press no button that changes anything, on any page", async () => {
    const page = await app.open();
    await page.getByLabel("Name").fill("vera");
    await signIn(page, PASSWORD);
    await page.getByText("Signed in as vera (viewer)").waitFor();
    for (const [name, text] of PAGES) {
      await goTo(page, name);
      const main = page.getByRole("main");
      await main.getByText(text).first().waitFor();
      // A button that only unfolds details changes nothing.
      const names = await main
        .locator("button:not(:disabled, [role=tab], [aria-expanded])")
        .evaluateAll((buttons) => buttons.map((button) => button.ariaLabel ?? button.textContent ?? ""));
      expect
        .soft(
          names.map((each) => each.trim()).filter((each) => !HARMLESS.test(each)),
          name,
        )
        .toEqual([]);
      expect.soft(await main.locator("input.switch:not(:disabled)").count(), name).toBe(0);
    }
    await goTo(page, "settings");
    await page.getByText("Session lifetime").first().waitFor();
    expect(await page.getByLabel("New password").count()).toBe(0);
    await goTo(page, "playground");
    await page.getByText("Ask an operator or an owner of this gateway for a key").waitFor();
    expect(await page.getByRole("button", { name: "Make a key for 1 hour" }).count()).toBe(0);
    await goTo(page, "accounts");
    const edit = page.getByRole("button", { name: "Edit three@sandbox.test" });
    expect(await edit.isDisabled()).toBe(true);
    expect(await edit.getAttribute("title")).toContain("Viewers");
  });

  it("is not led to pages that only owners may open", async () => {
    const page = await app.open();
    await page.getByLabel("Name").fill("vera");
    await signIn(page, PASSWORD);
    await page.getByText("Signed in as vera (viewer)").waitFor();
    await page.keyboard.press("Control+k");
    const search = page.getByRole("combobox", { name: "Search pages" });
    await search.fill("Administrators");
    await page.getByText("Nothing found.").waitFor();
    await search.fill("Providers");
    await page.getByRole("option", { name: /Providers/ }).waitFor();
  });
});
