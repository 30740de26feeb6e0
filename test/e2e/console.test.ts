import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { signIn, useConsole } from "../support/use-console.ts";

describeWithBrowser("the console's door", () => {
  const app = useConsole();

  it("serves the page under a strict policy, with and without a slash", async () => {
    for (const path of ["/admin", "/admin/"]) {
      const response = await app.fetch(path);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toMatch(/^text\/html/);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("asks for nothing from elsewhere", async () => {
    const page = await app.open();
    const hosts = new Set<string>();
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await page.reload();
    await signIn(page);
    expect([...hosts]).toEqual([app.gateway.url]);
  });

  it("opens in a browser whose locale is none that Intl knows", async () => {
    const page = await app.open();
    await page.addInitScript(
      "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })",
    );
    await page.reload();
    await signIn(page);
  });

  it("says why a wrong key does not open it, and keeps what was typed", async () => {
    const page = await app.open();
    await page.getByLabel("Admin key or password").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Admin key or password").inputValue()).toBe("wrong");
  });

  it("keeps the token in this tab alone, over a reload, until one signs out", async () => {
    const page = await app.open();
    await signIn(page);
    expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain("eyJ");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Admin key or password").waitFor();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("eyJ");
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
