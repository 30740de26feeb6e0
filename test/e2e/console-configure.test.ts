import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";
import { goTo, saved, useConsole, violations } from "../support/use-console.ts";

/** A hosting platform that takes any variable, and has no deployment to start again. */
const hosting = await serve((request, response, url) => {
  const created = request.method === "POST" ? { created: {} } : {};
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(url.pathname.endsWith("/deployments") ? { deployments: [] } : created));
});
afterAll(() => hosting.close());

/** An engine that tells its models, and no more. */
const engine = await serve((_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ object: "list", data: [{ id: "qwen3:8b" }, { id: "tiny" }] }));
});
afterAll(() => engine.close());

describeWithBrowser("configuring in the console", () => {
  const app = useConsole({
    vars: { HOSTING_API_BASE_URL: hosting.origin, OTEL_EXPORTER_OTLP_ENDPOINT: `${engine.origin}/otlp` },
  });

  it("adds an account, tests it, changes it and deletes it", async () => {
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Add account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("E-mail").fill("four@sandbox.test");
    await dialog.getByLabel("Password").fill("sandbox");
    await dialog.getByRole("button", { name: "Add account" }).click();
    await saved(dialog);
    // It is tested at once.
    const row = page.getByRole("row", { name: /four@sandbox\.test/ });
    await row.getByText("ok", { exact: true }).waitFor();
    await row.getByRole("button", { name: /^Test/ }).click();
    await row.getByText("ok", { exact: true }).waitFor();

    await row.getByRole("button", { name: /^Edit/ }).click();
    await dialog.getByLabel("Name").fill("Number four");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await page.getByText("Number four").waitFor();

    await page.getByLabel("Search accounts").fill("number FOUR");
    await page.getByText("1 account", { exact: true }).waitFor();
    await row.waitFor();
    await page.getByRole("button", { name: "Delete four@sandbox.test" }).click();
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await row.waitFor({ state: "detached" });
    const count = async () => (await app.admin("GET", "/admin/accounts?q=four")).body["total"];
    expect(await count()).toBe(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
    expect(await count()).toBe(1);
    await app.admin("DELETE", "/admin/accounts/four@sandbox.test");
  });

  it("does one thing to many accounts, and finds them by their health", async () => {
    const page = await app.at("accounts");
    await page.getByLabel("Select one@sandbox.test").check();
    await page.getByLabel("Select two@sandbox.test").check();
    await page.getByRole("button", { name: "Test 2 selected" }).click();
    await page.getByText(/^2 accounts work/).waitFor();
    const chosen = page.getByRole("region", { name: "Selected accounts" });
    await chosen.getByRole("button", { name: "Disable" }).click();
    await page.getByText("2 accounts disabled").waitFor();
    await page.getByLabel("Health").selectOption("disabled");
    await page.getByText("2 accounts", { exact: true }).waitFor();
    expect(page.url()).toContain("#/accounts?health=disabled");
    await chosen.getByRole("button", { name: "Enable" }).click();
    await page.getByText("No account matches the filters.").waitFor();
    await page.getByLabel("Health").selectOption({ label: "any health" });
    await page.getByText("3 accounts", { exact: true }).waitFor();
    await chosen.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete accounts" }).click();
    await page.getByText("1 account", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("3 accounts", { exact: true }).waitFor();
  });

  it("keeps a form that the gateway refuses, with the reason", async () => {
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Add account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("E-mail").fill("one@sandbox.test");
    await dialog.getByLabel("Password").fill("sandbox");
    await dialog.getByRole("button", { name: "Add account" }).click();
    const alert = dialog.getByRole("alert");
    expect(await alert.innerText()).toContain("exists already");
    expect(await dialog.getByLabel("E-mail").inputValue()).toBe("one@sandbox.test");

    // The reason is in sight in a form that is longer than the window, too.
    await page.setViewportSize({ width: 1_280, height: 420 });
    await dialog.locator("form").evaluate((form) => form.closest("dialog")?.scrollTo(0, 0));
    const box = await alert.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(420);
  });

  it("shows what the gateway refuses of an account or a proxy at its field", async () => {
    const page = await app.at("accounts");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Edit three@sandbox.test" }).click();
    const weight = dialog.getByLabel("Weight");
    await weight.fill("0");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Not saved. Fix: Weight.").waitFor();
    await dialog.locator("input:focus").and(weight).waitFor();
    await dialog.getByText("must be at least 1").waitFor();
    await weight.fill("1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);

    await goTo(page, "proxies");
    await page.getByRole("button", { name: "Add proxy" }).first().click();
    const host = dialog.getByLabel("Host");
    await host.fill("http://proxy.test");
    await dialog.getByLabel("Port").fill("9");
    await dialog.getByRole("button", { name: "Add proxy" }).click();
    await dialog.getByText("Not saved. Fix: Host.").waitFor();
    await dialog.locator("input:focus").and(host).waitFor();
  });

  it("imports a list, tests all accounts, and shows which failed and why", async () => {
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Import" }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByLabel("Accounts")
      .fill("five@sandbox.test:sandbox\nbroken@sandbox.test:wrong\nnonsense");
    await dialog.getByText("Line 3 is not of the form").waitFor();
    await dialog.getByRole("button", { name: "Import 2 accounts" }).click();
    await saved(dialog);
    await page.getByRole("cell", { name: "broken@sandbox.test", exact: true }).waitFor();
    await page.getByRole("button", { name: "Test all" }).click();
    await page.getByText(/1 of 5 accounts failed \(.*(?:GMT|UTC).*\)/).waitFor();
    await page.getByText("Show failures").click();
    await page.getByRole("listitem").filter({ hasText: "broken@sandbox.test:" }).waitFor();

    // One who leaves and returns sees how far the server has come, and can end the test and go on with it.
    let cancelled = false;
    const resumed: unknown[] = [];
    await page.route("**/admin/accounts/test-all/**", (route) => {
      if (route.request().method() === "POST") cancelled = true;
      const counts = { total: 5_007, done: 3_946, success: 3_946, failed: 0, failures: [] };
      return route.fulfill({ json: { running: !cancelled, ...counts } });
    });
    await page.route("**/admin/accounts/test-all", (route) => {
      resumed.push(route.request().postDataJSON());
      return route.fulfill({ json: { success: true } });
    });
    await goTo(page, "keys");
    await goTo(page, "accounts");
    await page.getByText("3,946 / 5,007").waitFor();
    expect(await page.getByRole("button", { name: "Test all" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The test ended after 3,946 of 5,007 accounts.").waitFor();
    await page.getByRole("button", { name: "Test the remaining 1,061" }).click();
    await expect.poll(() => resumed).toEqual([{ resume: true }]);
  });

  it("changes a setting, which takes effect at once and can be undone", async () => {
    const maxInflight = async () =>
      (await app.admin("GET", "/admin/queue/status")).body["max_inflight_per_account"];
    const before = await maxInflight();
    const page = await app.at("settings");
    await page.getByLabel("Concurrent requests per account").fill("7");
    await page.getByText("1 unsaved change").waitFor();
    // What was typed is not lost by a link.
    const leave = page.getByRole("dialog", { name: "Leave without saving?" });
    await page.getByRole("link", { name: "Keys" }).click();
    await leave.getByText("1 unsaved change").waitFor();
    await leave.getByRole("button", { name: "Stay" }).click();
    expect(await page.getByLabel("Concurrent requests per account").inputValue()).toBe("7");
    await page.getByRole("link", { name: "Keys" }).click();
    await leave.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Concurrent requests per account").fill("7");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Settings saved").waitFor();
    expect(await maxInflight()).toBe(7);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(maxInflight).toBe(before);
    const field = page.getByLabel("Concurrent requests per account");
    await expect.poll(() => field.inputValue()).not.toBe("7");
    expect(await page.getByText("1 unsaved change").count()).toBe(0);
  });

  it.each([
    ["settings", "New password", "a password that was not changed"],
    ["hosting", "Project id", "a form that was not sent"],
    ["playground", "Message", "a message that was not sent"],
  ])("asks before unsaved input at %s is lost", async (name, field, lost) => {
    const page = await app.at(name);
    await page.getByLabel(field, { exact: true }).fill("typed");
    const leave = page.getByRole("dialog", { name: "Leave without saving?" });
    await page.getByRole("link", { name: "Keys" }).click();
    await leave.getByText(lost).waitFor();
    await leave.getByRole("button", { name: "Stay" }).click();
    expect(await page.getByLabel(field, { exact: true }).inputValue()).toBe("typed");
    await page.getByRole("link", { name: "Keys" }).click();
    await leave.getByRole("button", { name: "Leave" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  });

  it("finds a setting by a word of its description on a phone, where the groups are folded", async () => {
    const page = await app.at("settings", { width: 390 });
    const lifetime = page.getByLabel("Session lifetime (hours)");
    await page.getByText("Administration", { exact: true }).waitFor();
    expect(await lifetime.isVisible()).toBe(false);
    await page.getByLabel("Search settings").fill("sign-in to this console");
    await lifetime.fill("0");
    // A changed setting stays, and so does its error.
    await page.getByLabel("Search settings").fill("queue size");
    await page.getByLabel("Queue size").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Not saved. Fix: Session lifetime (hours).").waitFor();
    await lifetime.and(page.locator(":focus")).waitFor();
    await page.getByLabel("Search settings").fill("no such words");
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("No setting matches.").waitFor();
  });

  it("keeps a setting that the gateway refuses, with the reason", async () => {
    const page = await app.at("settings");
    await page.getByLabel("Concurrent requests per account").fill("100000");
    await page.getByRole("button", { name: "Save" }).click();
    expect(await page.getByRole("alert").innerText()).toContain("Fix: Concurrent requests per account");
    await page.getByText("Must be a whole number from 1 to 256.").waitFor();
    const field = page.getByLabel("Concurrent requests per account");
    expect(await field.inputValue()).toBe("100000");
    await expect.poll(() => page.evaluate("document.activeElement.ariaInvalid")).toBe("true");
  });

  it("adds a key that then works, and deletes it", async () => {
    const page = await app.at("keys");
    await page.getByRole("button", { name: "Add key" }).click();
    const dialog = page.getByRole("dialog");
    const key = await dialog.getByLabel("Key", { exact: true }).inputValue();
    await dialog.getByLabel("Name").fill("Laptop");
    await dialog.getByRole("button", { name: "Add key" }).click();
    await page.getByRole("dialog", { name: "Connect with the new key" }).getByLabel("Close").click();
    await saved(dialog);
    const row = page.getByRole("row", { name: /Laptop/ });
    await row.waitFor();
    expect(await row.innerText()).not.toContain(key);
    const ask = () => app.chat("Hello", {}, { authorization: `Bearer ${key}` });
    expect((await ask()).status).toBe(200);
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Tokens per month").fill("1");
    await dialog.getByLabel("Networks").fill("nowhere");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("must be an address").waitFor();
    await dialog.getByLabel("Networks").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await row.getByText(/ of 1 \(Tokens per month\)/).waitFor();
    await ask();
    expect(await (await ask()).json()).toMatchObject({ error: { code: "insufficient_quota" } });

    await row.getByRole("button", { name: "Rotate" }).click();
    await dialog.getByLabel("The old key stays valid for").selectOption("No time");
    await dialog.getByRole("button", { name: "Rotate key" }).click();
    const fresh = await dialog.getByRole("region", { name: "The new key" }).innerText();
    expect(fresh).toMatch(/^sk-[\w-]{43}$/);
    await dialog.getByRole("button", { name: "Done" }).click();
    await saved(dialog);
    expect((await ask()).status).toBe(401);
    await row.getByText("Limit reached").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Expires").fill("2020-01-02T03:04");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("this time is past").waitFor();
    await dialog.getByLabel("Expires").fill("2099-01-02T03:04");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete key" }).click();
    await row.waitFor({ state: "detached" });
    await goTo(page, "audit");
    await page.getByText("DELETE /admin/keys/:key").first().waitFor();
  });

  it("tests a proxy before it is saved, and binds an account to it", async () => {
    const page = await app.at("proxies");
    await page.getByRole("button", { name: "Add proxy" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill("Nowhere");
    await dialog.getByLabel("Host").fill("127.0.0.1");
    await dialog.getByLabel("Port").fill("9");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("failed", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Add proxy" }).click();
    await page.getByRole("cell", { name: "http://127.0.0.1:9" }).waitFor();
    await goTo(page, "accounts");
    await page.getByRole("button", { name: "Edit three@sandbox.test" }).click();
    await dialog.getByLabel("Proxy").selectOption({ label: "Nowhere" });
    await dialog.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("row", { name: /three@sandbox\.test/ })
      .getByText("Nowhere")
      .waitFor();
    await goTo(page, "proxies");
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete proxy" }).click();
    await page.getByText("No proxies").waitFor();
  });

  it("adds a webhook for alerts with a secret that is shown once, and changes a rule", async () => {
    const page = await app.at("alerts");
    await page.getByRole("button", { name: "Add webhook" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Operators");
    await dialog.getByLabel("Address").fill("http://127.0.0.1/secret-path");
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    await dialog.getByText("check “Allow 127.0.0.1”").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel("Allow 127.0.0.1").check();
    await dialog.getByLabel("Enabled").uncheck();
    await dialog.getByRole("button", { name: "Add webhook" }).click();
    await saved(dialog);
    await page.getByText("whsec_").waitFor();
    const row = page.getByRole("row", { name: /Operators/ });
    expect(await row.innerText()).toContain("http://127.0.0.1/****");
    const rule = page.getByRole("group", { name: "Waiting requests" });
    await rule.getByLabel("More than").fill("25");
    await page.getByRole("button", { name: "Save rules" }).click();
    await page.getByText("Rules saved").waitFor();
    expect((await app.admin("GET", "/admin/alerts")).body).toMatchObject({
      webhooks: [{ name: "Operators", disabled: true }],
      private_hosts: ["127.0.0.1"],
      rules: { queue_depth: { threshold: 25 } },
    });
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByText("No webhooks yet").waitFor();
  });

  it("keeps the first choice in a form", async () => {
    const page = await app.at("alerts");
    await page.getByRole("button", { name: "Add webhook" }).first().click();
    const format = page.getByRole("dialog").getByLabel("Format");
    // Unlike a change by a script, a key causes the events one after the other.
    await format.press("ArrowDown");
    await page.getByRole("dialog").getByLabel("Name").fill("Operators");
    expect(await format.inputValue()).toBe("chat");
  });

  it("chooses the rules of a webhook: at least one, or all", async () => {
    await app.admin("PUT", "/admin/alerts", {
      webhooks: [{ id: "costs", name: "Costs", url: "https://hooks.example.com/", disabled: true }],
    });
    const page = await app.at("alerts");
    const dialog = page.getByRole("dialog");
    const choices = dialog.getByRole("group", { name: "Rules" });
    const row = page.getByRole("row", { name: /Costs/ });
    const open = () => row.getByRole("button", { name: "Edit" }).click();
    const save = () => dialog.getByRole("button", { name: "Save" }).click();
    await open();
    await choices.waitFor();
    expect(await choices.getByRole("checkbox", { checked: true }).count()).toBe(7);
    for (const box of await choices.getByRole("checkbox").all()) await box.uncheck();
    await save();
    await choices.getByText("Check at least one rule.").waitFor();
    expect(await violations(page)).toEqual([]);
    await choices.getByLabel("Key budgets").check();
    await choices.getByLabel("Provider down").check();
    await save();
    await saved(dialog);
    await row.getByText("Only: Key budgets, Provider down").waitFor();
    expect((await app.admin("GET", "/admin/alerts")).body).toMatchObject({
      webhooks: [{ id: "costs", rules: ["budget", "provider_down"] }],
    });
    await open();
    expect(await choices.getByLabel("Error rate").isChecked()).toBe(false);
    for (const box of await choices.getByRole("checkbox").all()) await box.check();
    await save();
    await saved(dialog);
    await row.getByText("Only:").waitFor({ state: "detached" });
    const { body } = await app.admin("GET", "/admin/config/export");
    expect(body["config"]).not.toHaveProperty("alerts.webhooks[0].rules");
    await app.admin("PUT", "/admin/alerts", { webhooks: [] });
  });

  it("adds an alias, and shows which model a name leads to", async () => {
    const page = await app.at("models");
    await page.getByRole("button", { name: "Add alias" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Requested name").fill("house-model");
    await dialog.getByLabel("Model").selectOption("provider-v4-pro");
    await dialog.getByRole("button", { name: "Save alias" }).click();
    await saved(dialog);
    await page.getByRole("cell", { name: "house-model", exact: true }).waitFor();
    await page.getByLabel("Requested name").fill("house-model");
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByText("house-model is served by provider-v4-pro.").waitFor();
    await goTo(page, "playground");
    await page.getByLabel("Model").selectOption("house-model");
  });

  it("exports, shows what an import would change, and imports only then", async () => {
    const page = await app.at("transfer");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download JSON" }).click();
    const text = await readFile(await (await download).path(), "utf8");
    expect(JSON.parse(text)).toMatchObject({ api_keys: [{ key: "sk-dev" }] });

    await page.getByLabel("Configuration").fill(text);
    await page.getByLabel("Mode").selectOption("replace");
    await page.getByRole("button", { name: "Show changes" }).click();
    await page.getByText("No changes").waitFor();

    await page.getByLabel("Configuration").fill('{"model_aliases": {"imported-name": "provider-v4-pro"}}');
    await page.getByLabel("Mode").selectOption("merge");
    await page.getByRole("button", { name: "Show changes" }).click();
    await page.getByText("model_aliases.imported-name").waitFor();
    const before = await app.admin("GET", "/admin/settings");
    expect(JSON.stringify(before.body)).not.toContain("imported-name");
    await page.getByRole("button", { name: "Apply changes" }).click();
    await page.getByText("Configuration imported").waitFor();
    const after = await app.admin("GET", "/admin/settings");
    expect(JSON.stringify(after.body)).toContain("imported-name");

    await page
      .getByRole("button", { name: /^Restore version/ })
      .first()
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("model_aliases.imported-name").waitFor();
    await dialog.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText("Configuration restored").waitFor();
    const restored = await app.admin("GET", "/admin/settings");
    expect(JSON.stringify(restored.body)).not.toContain("imported-name");
  });

  it("names what a replacing import deletes, and confirms it in red", async () => {
    await app.admin("POST", "/admin/proxies", { id: "doomed", type: "http", host: "p.test", port: 1 });
    const { body } = await app.admin("GET", "/admin/config/export");
    const { proxies: _, ...kept } = Object(body["config"]);
    const page = await app.at("transfer");
    await page.getByLabel("Configuration").fill(JSON.stringify({ ...kept, proxies: [] }));
    await page.getByLabel("Mode").selectOption("replace");
    await page.getByRole("button", { name: "Show changes" }).click();
    const part = page.getByRole("region", { name: "Proxies" });
    await part.getByText("doomed").waitFor();
    expect(await part.locator(".deletions").innerText()).toMatch(/^Deletes \d+: .*doomed/);
    expect(await violations(page)).toEqual([]);
    const button = page.getByRole("button", { name: "Delete and apply" });
    expect(await button.getAttribute("class")).toContain("danger");
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Delete these entries?" });
    await dialog.getByText(/^Proxies: \d+$/).waitFor();
    await dialog.getByRole("button", { name: "Delete and apply" }).click();
    await page.getByText("Configuration imported").waitFor();
    expect((await app.admin("GET", "/admin/proxies/doomed")).status).toBe(404);
  });

  it("shows no secret in the difference that an import would make", async () => {
    const configOf = (part: string) => ({
      api_keys: [{ key: `sk-${part}-0123456789`, id: "preview" }],
      accounts: [{ email: "preview@x.test", password: `password-${part}`, token: `token-${part}` }],
      proxies: [{ id: "preview", type: "http", host: "p.test", port: 1, password: `proxied-${part}` }],
      providers: [
        {
          id: "preview",
          driver: "openai",
          base_url: "https://backend.test",
          token: `bearer-${part}`,
          headers: { Authorization: `Basic-${part}`, "X-Tenant": `tenant-${part}` },
        },
      ],
      alerts: {
        webhooks: [{ id: "w", url: `https://hooks.test/${part}`, secret: `whsec_${part}${"A".repeat(31)}` }],
      },
    });
    const page = await app.at("transfer");
    const compare = async (config: unknown, mode: string, named: string): Promise<string> => {
      await page.getByLabel("Configuration").fill(JSON.stringify(config));
      await page.getByLabel("Mode").selectOption(mode);
      await page.getByRole("button", { name: "Show changes" }).click();
      // The changes of the comparison before are shown until the new ones have come.
      await expect.poll(() => page.locator(".changes").textContent()).toContain(named);
      // The text that was pasted is beside it.
      return page.locator(".changes").innerHTML();
    };
    const added = await compare(configOf("firstpart"), "replace", "providers[preview]");
    await app.admin("POST", "/admin/config/import", {
      config: configOf("firstpart"),
      mode: "merge",
    });
    const header = "providers[preview].headers.Authorization";
    const changed = await compare(configOf("otherpart"), "merge", header);
    for (const shown of [added, changed]) expect(shown).not.toMatch(/firstpart|otherpart/);
    await app.admin("DELETE", "/admin/accounts/preview@x.test");
    for (const list of ["keys", "providers", "proxies"]) await app.admin("DELETE", `/admin/${list}/preview`);
  });

  it("states what is wrong with an invalid configuration", async () => {
    const page = await app.at("transfer");
    await page.getByLabel("Configuration").fill('{"accounts": [');
    await page.getByRole("button", { name: "Show changes" }).click();
    expect(await page.getByRole("alert").innerText()).toContain("Invalid JSON");
    expect(await page.getByLabel("Configuration").inputValue()).toBe('{"accounts": [');
  });

  it("sends the configuration to the hosting platform, and shows that both are in step", async () => {
    const page = await app.at("hosting");
    await page.getByText("never synced").waitFor();
    await page.getByRole("button", { name: "Sync and deploy" }).click();
    await page.getByLabel("Vercel access token").fill("hosting-token-1234");
    await page.getByRole("button", { name: "Sync and deploy" }).click();
    expect(await page.getByRole("alert").innerText()).toContain("project");
    await page.getByLabel("Project id").fill("prj_1");
    await page.getByRole("button", { name: "Sync and deploy" }).click();
    await page.getByText("deploy the project by hand").waitFor();
    await page.getByText("Up to date").waitFor();
    await app.admin("POST", "/admin/keys", { key: "sk-later" });
    await page.reload();
    await page.getByText("changed since the last sync").waitFor();
  });

  it("adds a provider, lists and edits its models, gives it an account, and sends names to it", async () => {
    const { prices } = (await app.admin("GET", "/admin/settings")).body;
    await app.admin("PUT", "/admin/settings", {
      prices: { ...Object(prices), "engine/qwen3:8b": { input: 9, output: 10 } },
    });
    const page = await app.at("providers");
    const row = page.getByRole("row", { name: /^engine/ });
    const dialog = page.getByRole("dialog");
    await page.getByRole("row", { name: /from environment variables/ }).waitFor();
    await page.getByRole("button", { name: "Add provider" }).click();
    await dialog.getByLabel("ID", { exact: true }).fill("default");
    await dialog.getByLabel("Address").fill(`${engine.origin}/v1`);
    await dialog.getByLabel("Token", { exact: true }).fill("engine-token-0001");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await dialog.getByText("this is the provider that the variables name").waitFor();
    expect(await dialog.getByLabel("ID", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    await dialog.getByText("Proxy, headers, limits, accounts and timeouts").click();
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel("ID", { exact: true }).fill("engine");
    await dialog.getByLabel("Headers").fill("X-Title: my gateway");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await saved(dialog);

    // The form shows the backend's models before any of them is listed.
    await page.getByText("No models yet").waitFor();
    await page.getByRole("button", { name: "Fetch models" }).first().click();
    await dialog.getByText("2 of 2 are not added yet.").waitFor();
    await dialog.getByLabel("qwen3:8b").check();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add selected (1)" }).click();
    await saved(dialog);
    await page.getByRole("heading", { name: "1 model", exact: true }).waitFor();
    // The price of the page Usage comes before the provider's.
    await page.getByText("9 in, 10 out").waitFor();
    await page.getByRole("button", { name: "Add model" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("small");
    await dialog.getByLabel("Name at the provider").fill("org/tiny");
    await dialog.getByLabel("Image input", { exact: true }).selectOption("no");
    await dialog.getByLabel("Context (tokens)").fill("32768");
    await dialog.getByLabel("Output price (per million tokens)").fill("2.5");
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add model" }).click();
    await saved(dialog);
    const small = page.getByRole("row", { name: /org\/tiny/ });
    await small.getByText("32,768 tokens").waitFor();
    await page.getByRole("button", { name: "Disable all" }).click();
    await page.getByRole("heading", { name: "2 models, 2 disabled" }).waitFor();
    await page.getByLabel("qwen3:8b is on").check();
    await page.getByRole("heading", { name: "2 models, 1 disabled" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await small.getByRole("button", { name: "Edit small" }).click();
    await dialog.getByLabel("Context (tokens)").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await small.getByText("32,768 tokens").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Remove small" }).click();
    await small.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await small.waitFor();
    await page.getByRole("link", { name: "Providers" }).last().click();
    await row.getByText("Healthy").waitFor();
    await row.getByRole("link", { name: "2 models, 1 disabled of engine" }).waitFor();

    // A fault in a field that was hidden shows the field. What was shown masked stays as it was.
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Name", { exact: true }).fill("The engine");
    const advanced = dialog.getByText("Proxy, headers, limits, accounts and timeouts");
    await advanced.click();
    await dialog.getByLabel("Cost per day").fill("2.5");
    await dialog.getByLabel("Response cache (seconds)").fill("600");
    await dialog.getByLabel("Active probes").selectOption("off");
    await dialog.getByLabel("Idle timeout (seconds)").fill("-1");
    await advanced.click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Must be a number from 0 to 2,147,483.").waitFor();
    await dialog.getByLabel("Idle timeout (seconds)").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await row.waitFor({ state: "detached" });
    await page
      .getByRole("row", { name: /The engine/ })
      .getByText("0 of 2.50 (Cost per day)")
      .waitFor();
    const { body } = await app.admin("GET", "/admin/config/export");
    expect(body["config"]).toMatchObject({
      providers: [
        {
          id: "engine",
          name: "The engine",
          token: "engine-token-0001",
          headers: { "X-Title": "my gateway" },
          limits: { cost_per_day: 2.5 },
          cache: { ttl_seconds: 600 },
          active_probes: false,
          models: {
            "qwen3:8b": "qwen3:8b",
            small: { upstream: "org/tiny", enabled: false, vision: false, price: { input: 0, output: 2.5 } },
          },
        },
      ],
    });
    const named = page.getByRole("row", { name: /^The engine/ });
    await named.getByRole("button", { name: "Disable engine" }).click();
    await named.getByText("disabled").waitFor();
    await named.getByRole("button", { name: "Enable engine" }).click();
    await named.getByText("Healthy").waitFor();
    await named.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete provider" }).click();
    await named.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await named.waitFor();

    // The variables set the default provider, but not its limits and cache.
    await page.getByRole("button", { name: "Edit limits and cache" }).click();
    await dialog.getByLabel("Response cache (seconds)").fill("1.5");
    await dialog.getByLabel("Requests per minute").fill("6000");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Not saved. Fix: Response cache (seconds).").waitFor();
    await dialog.getByLabel("Response cache (seconds)").fill("0");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    expect((await app.admin("GET", "/admin/settings")).body["default_provider"]).toEqual({
      limits: { requests_per_minute: 6_000 },
      cache: { ttl_seconds: 0 },
    });

    await goTo(page, "models");
    await page.getByRole("button", { name: "Add route" }).click();
    await dialog.getByLabel("Requested name").fill("best");
    await dialog.getByLabel("Model 1", { exact: true }).fill("nowhere");
    await dialog.getByRole("button", { name: "Save route" }).click();
    await dialog.getByText('"nowhere" is no model').waitFor();
    await dialog.getByLabel("Model 1", { exact: true }).fill("provider-v4-pro");
    await dialog.getByRole("button", { name: "Add model" }).click();
    await dialog.getByLabel("Model 2", { exact: true }).fill("engine/qwen3:8b");
    await dialog.getByRole("button", { name: "Move model 2 up" }).click();
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("provider-v4-pro is served by provider-v4-pro.").waitFor();
    expect(await dialog.getByText("unknown", { exact: true }).count()).toBe(0);
    await dialog.getByLabel("Model 2", { exact: true }).fill("engin/qwen3:8b");
    await dialog.getByRole("button", { name: "Add model" }).click();
    await dialog.getByLabel("Model 3", { exact: true }).fill("engine/qwen3:9b");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText('engin/qwen3:8b: the model "engin/qwen3:8b" does not exist').waitFor();
    await dialog.getByText("The provider “engine” has no model “qwen3:9b”.").waitFor();
    expect(await dialog.getByText("unknown", { exact: true }).count()).toBe(2);
    await dialog.getByRole("button", { name: "Remove model 3" }).click();
    await dialog.getByLabel("Model 2", { exact: true }).fill("provider-v4-pro");
    await dialog.getByRole("button", { name: "Save route" }).click();
    await saved(dialog);
    await page.getByText("engine/qwen3:8b → provider-v4-pro").waitFor();
    await page.getByLabel("Requested name").fill("best");
    await page.getByRole("button", { name: "Look up" }).click();
    await page.getByText("best is a route. engine/qwen3:8b → provider-v4-pro").waitFor();
    // The answer follows the next edit.
    await page.getByRole("button", { name: "Edit the route best" }).click();
    await dialog.getByRole("button", { name: "Move model 2 up" }).click();
    await dialog.getByRole("button", { name: "Save route" }).click();
    await saved(dialog);
    await page.getByText("best is a route. provider-v4-pro → engine/qwen3:8b").waitFor();
    await page.getByLabel("Requests with unknown names are").selectOption("engine");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Unknown names are passed on").waitFor();
    const settings = (await app.admin("GET", "/admin/settings")).body;
    expect(settings["model_routes"]).toEqual({ best: ["provider-v4-pro", "engine/qwen3:8b"] });
    expect(settings["unknown_models"]).toEqual({ provider: "engine" });

    await goTo(page, "accounts");
    await page.getByRole("button", { name: "Add account" }).click();
    await dialog.getByLabel("Provider").selectOption("engine");
    await dialog.getByLabel("Token").fill("engine-token-0002");
    await dialog.getByLabel("Name").fill("At the engine");
    await dialog.getByLabel("Test after saving").uncheck();
    await dialog.getByRole("button", { name: "Add account" }).click();
    await saved(dialog);
    await page.getByText("At the engine").waitFor();
    await page.getByLabel("Order").selectOption("provider");
    await page.getByLabel("Provider").selectOption(":engine");
    await page.getByText("1 account", { exact: true }).waitFor();
    await page.getByText("At the engine").waitFor();
  });

  describe("a saved form whose list is still reloading", () => {
    /** Holds back what answers requests of a kind, from now on, until `answer` is called. */
    const holdBack = async (page: Page, method: string, path: string) => {
      const held: (() => void)[] = [];
      let holds = true;
      await page.route(path, async (route) => {
        if (!holds || route.request().method() !== method) return route.fallback();
        const response = await route.fetch();
        await new Promise<void>((resolve) => held.push(resolve));
        // The page may have been left meanwhile.
        await route.fulfill({ response }).catch(() => {});
      });
      return {
        /** Waits until there is something to answer. */
        asked: () =>
          until(
            async () => held.length,
            (count) => count > 0,
          ),
        answer: () => {
          holds = false;
          for (const go of held) go();
        },
      };
    };
    const question = (page: Page) => page.getByRole("dialog", { name: "Leave without saving?" });
    const arriveAt = async (page: Page, name: string) => {
      await page.evaluate(`location.hash = "#/${name}"`);
      await page.locator(`nav a[aria-current="page"][href="#/${name}"]`).waitFor();
      expect(await page.getByRole("dialog").count()).toBe(0);
    };

    it("is left without a question", async () => {
      const page = await app.at("keys");
      await page.getByText("development").first().waitFor();
      await page.getByRole("button", { name: "Add key" }).first().click();
      const form = page.getByRole("dialog", { name: "Add key" });
      await form.getByLabel("Name", { exact: true }).fill("Sent and left");
      const list = await holdBack(page, "GET", "**/admin/keys*");
      await form.getByRole("button", { name: "Add key" }).click();
      await list.asked();
      await form.waitFor();
      await arriveAt(page, "proxies");
      list.answer();
    });

    it("is left without a question if it is part of the page itself", async () => {
      const page = await app.at("alerts");
      const minutes = page.getByLabel("Repeat after (minutes)").first();
      await minutes.fill("77");
      const list = await holdBack(page, "GET", "**/admin/alerts*");
      await page.getByRole("button", { name: "Save rules" }).click();
      await list.asked();
      await arriveAt(page, "proxies");
      list.answer();
      await arriveAt(page, "alerts");
      await until(
        () => minutes.inputValue(),
        (value) => value === "77",
      );
    });

    it("closes the question that was asked before it was saved", async () => {
      const page = await app.at("keys");
      await page.getByText("development").first().waitFor();
      await page.getByRole("button", { name: "Add key" }).first().click();
      const form = page.getByRole("dialog", { name: "Add key" });
      await form.getByLabel("Name", { exact: true }).fill("Sent and stayed");
      const sent = await holdBack(page, "POST", "**/admin/keys*");
      await form.getByRole("button", { name: "Add key" }).click();
      await sent.asked();
      await page.evaluate(`location.hash = "#/proxies"`);
      await question(page).waitFor();
      sent.answer();
      await question(page).waitFor({ state: "detached" });
      await page.getByRole("row", { name: /Sent and stayed/ }).waitFor();
      await arriveAt(page, "proxies");
    });

    it("keeps unsaved changes, and asks before they are lost", async () => {
      const page = await app.at("alerts");
      const minutes = page.getByLabel("Repeat after (minutes)");
      await minutes.nth(0).fill("78");
      const list = await holdBack(page, "GET", "**/admin/alerts*");
      await page.getByRole("button", { name: "Save rules" }).click();
      await list.asked();
      await minutes.nth(1).fill("79");
      await page.evaluate(`location.hash = "#/proxies"`);
      await question(page).getByRole("button", { name: "Stay" }).click();
      list.answer();
      await page.getByText("Rules saved").waitFor();
      expect([await minutes.nth(0).inputValue(), await minutes.nth(1).inputValue()]).toEqual(["78", "79"]);
    });

    it("of a deletion does not close a form that was opened meanwhile", async () => {
      await app.admin("POST", "/admin/keys", { name: "Deleted late" });
      const page = await app.at("keys");
      const row = page.getByRole("row", { name: /Deleted late/, includeHidden: true });
      await row.getByRole("button", { name: "Delete", exact: true }).click();
      const answer = await holdBack(page, "DELETE", "**/admin/keys/*");
      const confirm = page.getByRole("dialog", { name: "Delete this key?" });
      await confirm.getByRole("button", { name: "Delete key" }).click();
      await answer.asked();
      await page.keyboard.press("Escape");
      await confirm.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Add key" }).first().click();
      const form = page.getByRole("dialog", { name: "Add key" });
      await form.getByLabel("Name", { exact: true }).fill("Begun meanwhile");
      answer.answer();
      await row.waitFor({ state: "detached" });
      expect(await form.getByLabel("Name", { exact: true }).inputValue()).toBe("Begun meanwhile");
    });

    it("neither closes a form that was opened meanwhile, nor leads away from it", async () => {
      const page = await app.at("providers");
      await page.getByRole("table").waitFor();
      await page.getByRole("button", { name: "Add provider" }).click();
      const form = page.getByRole("dialog", { name: "Add provider" });
      await form.getByLabel("ID", { exact: true }).fill("left-behind");
      await form.getByLabel("Address").fill("http://127.0.0.1:9/v1");
      const list = await holdBack(page, "GET", "**/admin/providers*");
      await form.getByRole("button", { name: "Add provider" }).click();
      await list.asked();
      await form.getByRole("button", { name: "Cancel" }).click();
      await form.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Add provider" }).click();
      await form.getByLabel("ID", { exact: true }).fill("another");
      list.answer();
      await page.getByRole("row", { name: /^left-behind/, includeHidden: true }).waitFor();
      expect(await form.getByLabel("ID", { exact: true }).inputValue()).toBe("another");
      expect(page.url()).toMatch(/#\/providers$/);
    });
  });

  it("shows the saved settings of callers", async () => {
    await app.admin("PUT", "/admin/settings", { callers: { unknown_keys: "refuse" } });
    const page = await app.at("settings");
    const unknown = page.getByLabel("Unknown API keys");
    await unknown.waitFor();
    expect(await unknown.inputValue()).toBe("refuse");
    await unknown.selectOption("pass_through");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Settings saved").waitFor();
    expect(await unknown.inputValue()).toBe("pass_through");
    await unknown.selectOption("auto");
    await page.getByRole("button", { name: "Save" }).click();
    await expect
      .poll(async () => (await app.admin("GET", "/admin/settings")).body["callers"])
      .toMatchObject({ unknown_keys: "auto", unknown_keys_in_force: "pass_through" });
  });

  it("shows where traces and metrics go, and when they were last delivered", async () => {
    await (await app.chat("Hello")).text();
    await expect
      .poll(async () => (await app.admin("GET", "/admin/telemetry")).body, { timeout: 25_000 })
      .toMatchObject({ traces: { last_sent_at: expect.any(Number) } });
    const page = await app.at("settings");
    const row = page.getByRole("row", { name: /Traces/ });
    await row.getByText(engine.origin, { exact: true }).waitFor();
    await row.getByText("no error").waitFor();
    await row.getByText("never").waitFor({ state: "detached" });
    // The path of the collector may contain credentials.
    expect(await page.getByText("/otlp").count()).toBe(0);
  });

  it("warns on the overview that any API key or a known one is served, or that none is", async () => {
    const page = await app.at("settings");
    let callers: object = {
      unknown_keys_warning: true,
      development_key_warning: true,
      unknown_keys_in_force: "pass_through",
    };
    await page.route("**/admin/settings", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), api_keys: 0, callers } });
    });
    await page.goto("/admin#/overview");
    await page.getByText("The gateway accepts any API key").waitFor();
    await page.getByText("Callers must send their own API key of the provider").waitFor();
    await page.getByText("accepts the API key of a trial").waitFor();
    callers = { unknown_keys_warning: false, unknown_keys_in_force: "refuse" };
    await page.reload();
    await page.getByText("every request fails").waitFor();
    expect(await page.getByText("The gateway accepts any API key").count()).toBe(0);
  });
});
