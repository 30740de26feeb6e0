import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { ADMIN_KEY } from "../support/use-admin.ts";
import { goTo, signIn, useConsole, violations } from "../support/use-console.ts";

describeWithBrowser("access to the console", () => {
  const app = useConsole();

  it("serves the page under a strict policy, with and without a slash", async () => {
    for (const path of ["/admin", "/admin/"]) {
      const response = await app.fetch(path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toMatch(/^text\/html/);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("requests nothing from other hosts", async () => {
    const page = await app.open();
    const hosts = new Set<string>();
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await page.reload();
    await signIn(page);
    expect([...hosts]).toEqual([app.gateway.url]);
  });

  it("opens in a browser with a locale that Intl does not know", async () => {
    const page = await app.open();
    await page.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })",
    );
    await page.reload();
    await signIn(page);
  });

  it("speaks the browser's language or the chosen one, and loads no other", async () => {
    const page = await app.open({ locale: "de-AT" });
    const scripts: string[] = [];
    page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
    await page.getByLabel("Admin-Schlüssel oder Passwort").fill(ADMIN_KEY);
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByRole("heading", { level: 1, name: "Übersicht" }).waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("de");
    expect(await violations(page)).toEqual([]);
    for (const [id, heading] of [
      ["keys", "Schlüssel"],
      ["connect", "Verbinden"],
      ["audit", "Audit"],
      ["proxies", "Proxys"],
    ] as const) {
      await goTo(page, id);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    }
    await page.getByLabel("Sprache").selectOption("中文");
    await page.getByRole("link", { name: "密钥" }).waitFor();
    scripts.length = 0;
    await page.getByLabel("语言").selectOption("English");
    await page.getByRole("link", { name: "Keys" }).waitFor();
    expect(scripts.filter((path) => /\/(?:de|zh)-/.test(path))).toEqual([]);
    await page.reload();
    await page.getByRole("link", { name: "Keys" }).waitFor();
  });

  it("explains why a wrong key is refused, and keeps the input", async () => {
    const page = await app.open();
    await page.getByLabel("Admin key or password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Admin key or password").inputValue()).toBe("wrong");
  });

  it("keeps the token only in tabs, also after a reload, and signs in and out in all of them", async () => {
    const page = await app.open();
    const other = await page.context().newPage();
    await other.goto("/admin");
    await other.getByLabel("Admin key or password").waitFor();
    await signIn(page);
    await other.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await other.close();
    const later = await page.context().newPage();
    await later.goto("/admin#/keys");
    await later.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain("eyJ");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, later]) {
      await tab.getByLabel("Admin key or password").waitFor();
      expect(await tab.evaluate("JSON.stringify(sessionStorage)")).not.toContain("eyJ");
    }
  });

  it("shows on every page that the connection is lost, and continues by itself", async () => {
    const page = await app.at("accounts");
    await page.getByText("one@sandbox.test").waitFor();
    await page.context().setOffline(true);
    await page.getByLabel("Search accounts").fill("two");
    const lost = page.getByText(/^Connection lost, data from \d\d:\d\d:\d\d/);
    await lost.waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    // What was there is there still.
    await page.getByText("one@sandbox.test").waitFor();
    await page.context().setOffline(false);
    await lost.waitFor({ state: "detached" });
    await page.getByText("1 account", { exact: true }).waitFor();
  });

  it("can be used with the keyboard alone: pages, search and back", async () => {
    await (await app.chat("[[say:needle in a haystack]]")).text();
    await until(
      () => app.admin("GET", "/admin/chat-history?q=needle&status=success"),
      ({ body }) => body["total"] === 1,
    );
    const page = await app.at("overview");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { level: 1, name: "Accounts" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("g a");
    expect(await page.getByLabel("Search accounts").inputValue()).toBe("g a");

    const found = page.getByRole("dialog", { name: "Search everything" });
    const look = async (text: string, name: RegExp) => {
      await page.keyboard.press("Control+k");
      await found.getByRole("combobox").fill(text);
      await found.getByRole("option", { name }).waitFor();
    };
    await look("two@sandbox", /two@sandbox.*Account/);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByText("1 account", { exact: true }).waitFor();
    await look("development", /development.*Key/);
    await page.keyboard.press("Escape");
    await found.waitFor({ state: "detached" });
    await look("needle", /needle.*Record/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Generation" }).waitFor();
  });

  it("asks before it discards a form with input", async () => {
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Add account" }).click();
    const form = page.getByRole("dialog", { name: "Add account" });
    await page.getByLabel("E-mail").fill("half@sandbox.test");
    await page.keyboard.press("Escape");
    const asked = page.getByRole("dialog", { name: "Discard changes?" });
    await asked.getByRole("button", { name: "Keep editing" }).click();
    expect(await page.getByLabel("E-mail").inputValue()).toBe("half@sandbox.test");
    await form.getByRole("button", { name: "Cancel" }).click();
    await asked.getByRole("button", { name: "Discard" }).click();
    await form.waitFor({ state: "detached" });
  });

  it("closes dialogs over a page when another page opens", async () => {
    const page = await app.at("overview");
    await goTo(page, "accounts");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await page.keyboard.press("?");
    await keys.waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await keys.waitFor({ state: "detached" });

    const search = page.getByRole("dialog", { name: "Search everything" });
    await page.keyboard.press("Control+k");
    await search.waitFor();
    await page.goForward();
    await page.getByRole("heading", { level: 1, name: "Accounts" }).waitFor();
    await search.waitFor({ state: "detached" });
  });

  it("asks again when the session ends, and loses nothing that was typed", async () => {
    const page = await app.at("accounts");
    await page.getByRole("button", { name: "Add account" }).click();
    await page.getByLabel("E-mail").fill("late@sandbox.test");
    await page.getByLabel("Password").fill("sandbox");
    // Ends every token, as another administrator's change of the password does.
    await app.admin("POST", "/admin/settings/password", { new_password: "another" });
    await page.getByRole("dialog").getByRole("button", { name: "Add account" }).click();
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    const again = page.getByRole("dialog", { name: "Your session has ended" });
    await again.getByLabel("Admin key or password").fill("another");
    await again.getByRole("button", { name: "Sign in" }).click();
    await again.waitFor({ state: "detached" });
    expect(await page.getByLabel("E-mail").inputValue()).toBe("late@sandbox.test");
    await page.getByRole("dialog").getByRole("button", { name: "Add account" }).click();
    await page.getByRole("cell", { name: "late@sandbox.test", exact: true }).waitFor();
  });
});
