import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { useConsole, violations } from "../support/use-console.ts";
import { DEV_KEY } from "../support/use-gateway.ts";

describeWithBrowser("the page for holders of keys", () => {
  const app = useConsole();
  const { admin, fetch } = app;

  it("comes without a key, under the console's policy", async () => {
    const response = await fetch("/key");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/html/),
    ]);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    await response.body?.cancel();
  });

  it.each(["light", "dark"] as const)(
    "shows the limits of the key that is typed, and is accessible, %s",
    async (theme) => {
      const limits = { requests_per_minute: 60, cost_per_day: 1.5 };
      const { body } = await admin("POST", "/admin/keys", {
        name: "Alice",
        limits,
        models: ["provider-v4-pro"],
      });
      const page = await app.open({ theme, width: theme === "dark" ? 390 : 1_280 });
      await page.goto("/key");
      expect(await violations(page)).toEqual([]);
      await page.getByLabel("API key").fill("sk-wrong");
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByRole("alert").waitFor();
      await page.getByLabel("API key").fill(String(body["key"]));
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Alice" }).waitFor();
      const row = page.getByRole("row", { name: /Requests per minute/ });
      expect(await row.textContent()).toContain("60");
      expect(await page.getByRole("row", { name: /Cost per day/ }).textContent()).toContain("1.5");
      await page.getByText("provider-v4-pro", { exact: true }).first().waitFor();
      await page.getByRole("tab", { name: "SDKs" }).click();
      await page.getByLabel("Client").selectOption({ label: "OpenAI, Python" });
      const code = page.locator("pre.code");
      await code.getByText(`api_key="${body["key"]}"`).waitFor();
      await code.getByText('model="provider-v4-pro"').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
      // Nothing of the key is left in the browser.
      expect(
        await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])"),
      ).not.toContain("sk-");
      await page.getByRole("button", { name: "Another key" }).click();
      expect(await page.getByLabel("API key").inputValue()).toBe("");
    },
  );

  it("shows new usage after a refresh", async () => {
    const page = await app.open();
    await page.goto("/key");
    await page.getByLabel("API key").fill(DEV_KEY);
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("This key has no limits.").waitFor();
    await (await app.chat("hello")).text();
    await expect
      .poll(async () => {
        await page.getByRole("button", { name: "Refresh" }).click();
        return page.locator("dl.tiles > div").first().textContent();
      })
      .toContain("Requests today1");
  });
});
