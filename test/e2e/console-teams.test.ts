import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { goTo, saved, useConsole } from "../support/use-console.ts";

describeWithBrowser("teams, users and tags in the console", () => {
  const app = useConsole();

  it("adds a team with limits, gives it a key, and shows what is used", async () => {
    const page = await app.at("teams");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add team" }).first().click();
    await dialog.getByLabel("ID", { exact: true }).fill("search team");
    await dialog.getByLabel("Name").fill("Search");
    await dialog.getByLabel("Tokens per day").fill("100000");
    await dialog.getByLabel("Cost per month").fill("5");
    await dialog.getByRole("button", { name: "Add team" }).click();
    // The error is at the field that it names, which has the focus. The input stays.
    const id = dialog.getByLabel("ID", { exact: true });
    await dialog.getByText("Not saved. Fix: ID.").waitFor();
    await dialog.locator("input:focus").and(id).waitFor();
    expect(await id.getAttribute("aria-invalid")).toBe("true");
    const [, described = ""] = ((await id.getAttribute("aria-describedby")) ?? "").split(" ");
    expect(await dialog.locator(`[id="${described}"]`).innerText()).not.toBe("");
    await id.fill("search");
    expect(await id.getAttribute("aria-invalid")).toBeNull();
    await dialog.getByRole("button", { name: "Add team" }).click();
    await saved(dialog);
    const row = page.getByRole("row", { name: /Search/ });
    await row.getByText("0 keys").waitFor();
    // The models of this gateway have no prices.
    const warning = row.getByRole("link", {
      name: /^Budget ignores \d+ models without a price/,
    });
    expect(await warning.getAttribute("href")).toBe("#/usage/prices");
    await goTo(page, "models");
    await page.getByRole("link", { name: "Prices", exact: true }).click();
    const prices = page.getByRole("heading", { name: "Prices per million tokens" });
    await expect
      .poll(async () => (await prices.boundingBox())?.y)
      .toBeLessThan(page.viewportSize()?.height ?? 0);
    await goTo(page, "teams");
    await page.getByRole("tab", { name: "Users" }).click();
    await page.getByRole("button", { name: "Add user" }).first().click();
    await dialog.getByLabel("ID", { exact: true }).fill("ada");
    await dialog.getByRole("button", { name: "Add user" }).click();
    await saved(dialog);

    await goTo(page, "keys");
    await page.getByRole("button", { name: "Add key" }).click();
    await dialog.getByLabel("Key", { exact: true }).fill("sk-search");
    await dialog.getByLabel("Name").fill("Search in production");
    await dialog.getByLabel("Team").selectOption("search");
    await dialog.getByLabel("User").selectOption("ada");
    await dialog.getByLabel("History and captures keep").selectOption("no_texts");
    await dialog.getByRole("button", { name: "Add key" }).click();
    await dialog.getByRole("heading", { name: "Connect with the new key" }).waitFor();
    await page.keyboard.press("Escape");
    await saved(dialog);
    const keyRow = page.getByRole("row", { name: /Search in production/ });
    await keyRow.getByRole("button", { name: "Erase data" }).click();
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await page.getByText("0 entries erased").waitFor();
    const { body } = await app.admin("GET", "/admin/keys?q=production");
    expect(body).toMatchObject({ items: [{ team: "search", user: "ada", history: "no_texts" }] });
    await (await app.chat("Hello", {}, { authorization: "Bearer sk-search" })).text();

    await goTo(page, "teams");
    await row.getByText(/^\S+ of 100k? \(Tokens per day\)|^\S+ of \S+ \(Tokens per day\)/).waitFor();
    await expect
      .poll(async () =>
        Number(await row.getByRole("progressbar", { name: "Tokens per day" }).getAttribute("value")),
      )
      .toBeGreaterThan(0);
    await row.getByRole("link", { name: "1 key of Search" }).click();
    await page.getByRole("row", { name: /Search in production/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await goTo(page, "teams");
    await row.getByRole("link", { name: "Usage of Search" }).click();
    await page
      .getByRole("button", { name: "Show the others again: search" })
      .or(page.getByText("search ×"))
      .first()
      .waitFor();
  });

  it("changes a tag, reports a conflicting edit, and deletes it", async () => {
    await app.admin("POST", "/admin/tags", { id: "nightly", limits: { requests_per_minute: 5 } });
    const page = await app.at("teams/tags");
    const row = page.getByRole("row", { name: /nightly/ });
    const dialog = page.getByRole("dialog");
    await row.getByRole("button", { name: "Edit" }).click();
    expect(await dialog.getByLabel("Requests per minute").inputValue()).toBe("5");
    await app.admin("PUT", "/admin/tags/nightly", { remark: "changed meanwhile" });
    await dialog.getByLabel("Models").fill("provider-v4-flash");
    await dialog.getByLabel("History and captures keep").selectOption("none");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("button", { name: "Overwrite" }).click();
    await saved(dialog);
    await row.getByText("models: provider-v4-flash").waitFor();
    await row.getByText("Nothing", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete tag" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
  });

  it("shows that it loads until the gateway answers", async () => {
    const page = await app.at("keys");
    const answer = Promise.withResolvers<void>();
    await page.route("**/admin/teams", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await goTo(page, "teams");
    const loading = page.getByRole("status").filter({ hasText: "Loading…" });
    await loading.waitFor();
    answer.resolve();
    await loading.waitFor({ state: "detached" });
  });

  it("does not delete a team that has keys", async () => {
    await app.admin("POST", "/admin/teams", { id: "busy" });
    await app.admin("POST", "/admin/keys", { key: "sk-busy", team: "busy" });
    const page = await app.at("teams");
    await page.getByRole("row", { name: /busy/ }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete team" }).click();
    await page.getByText('1 key belongs to the team "busy"').waitFor();
  });

  it("shows everything in German and in Chinese", async () => {
    for (const [locale, title] of [
      ["de-DE", "Teams und Benutzer"],
      ["zh-CN", "团队和用户"],
    ] as const) {
      const page = await app.at("teams", { locale });
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
  });
});
