import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { goTo, useConsole, violations } from "../support/use-console.ts";

describeWithBrowser("connecting clients", () => {
  const app = useConsole();

  it("leads to the first request, and is gone after it", async () => {
    const page = await app.at("overview");
    const step = page.getByRole("listitem").filter({ hasText: "Send a first request" });
    await step.getByText("next").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Create an API key" }).getByText("done").waitFor();
    expect(await violations(page)).toEqual([]);
    await (await app.chat("Hello")).text();
    await step.waitFor({ state: "detached" });
    await goTo(page, "keys");
    await goTo(page, "overview");
    await page.getByText("Slots in use").waitFor();
    expect(await page.getByRole("heading", { name: "Set up" }).count()).toBe(0);
  });

  it("shows snippets with the entered key and the chosen model", async () => {
    const page = await app.at("connect");
    await page
      .getByRole("row", { name: /Anthropic/ })
      .getByText(`${app.gateway.url}/anthropic`, { exact: true })
      .waitFor();
    const main = page.getByRole("main");
    expect(await main.getByRole("link", { name: "Keys" }).getAttribute("href")).toBe("#/keys");
    await page.getByLabel("API key").fill("sk-mine");
    await page.getByLabel("Model").selectOption("provider-v4-pro");
    await page.getByRole("tab", { name: "Agents" }).click();
    await page.getByLabel("Client").selectOption("Claude Code");
    const snippet = await page.getByRole("region", { name: "Claude Code" }).innerText();
    expect(snippet).toContain("sk-mine");
    expect(snippet).toContain("provider-v4-pro");
    expect(await violations(page)).toEqual([]);
  });

  it("shows a curl command that works with a new key", async () => {
    const page = await app.at("keys");
    await page.getByRole("button", { name: "Add key" }).click();
    const form = page.getByRole("dialog", { name: "Add key" });
    await form.getByLabel("Name").fill("Laptop");
    await form.getByRole("button", { name: "Add key" }).click();
    const connect = page.getByRole("dialog", { name: "Connect with the new key" });
    await connect.getByRole("button", { name: "Copy the key" }).waitFor();
    await connect.getByRole("tab", { name: "SDKs" }).click();
    const command = await connect.getByRole("region", { name: "curl" }).innerText();
    const { execFileSync } = await import("node:child_process");
    const answer = execFileSync("sh", ["-c", command.replace("curl ", "curl -sS ")], { encoding: "utf8" });
    expect(JSON.parse(answer)).toMatchObject({ object: "chat.completion" });
    await connect.getByRole("button", { name: "Close" }).click();
    await page.getByRole("row", { name: /Laptop/ }).waitFor();
  });
});
