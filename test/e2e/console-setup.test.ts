import { afterAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { startChatBackend } from "../support/chat-backend.ts";
import { goTo, saved, useConsole, violations } from "../support/use-console.ts";

const engine = await startChatBackend({ models: ["qwen3:8b"], says: "Hello from the engine." });
afterAll(() => engine.close());

describeWithBrowser("the first run of the console", () => {
  const app = useConsole({ vars: { GATEWAY_DEVELOPMENT: "", PROVIDER_BASE_URL: "" } });

  it("leads from nothing to a first answer: provider, models, key, request", async () => {
    const page = await app.at("connect");
    const builtIn: { data: { id: string }[] } = await (await app.fetch("/v1/models")).json();
    // Tests always have the sandbox as default provider, which a deployment has not.
    await page.route("**/admin/providers", async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const response = await route.fetch();
      const { items, ...rest } = await response.json();
      const configured = items.filter(({ id }: { readonly id: string }) => id !== "default");
      const unserved_models = builtIn.data.map(({ id }) => id);
      await route.fulfill({ response, json: { ...rest, items: configured, unserved_models } });
    });
    await goTo(page, "overview");
    const checklist = page.getByRole("region", { name: "Set up" });
    const step = (name: string) => checklist.getByRole("listitem").filter({ hasText: name });
    const dialog = page.getByRole("dialog");
    await step("Add a provider").getByText("next").waitFor();
    for (const later of ["Choose models", "Create an API key", "Send a first request"])
      await step(later).getByText("to do").waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole("link", { name: "Add a provider" }).click();
    await page.getByRole("button", { name: "Add provider" }).first().click();
    await dialog.getByLabel("ID", { exact: true }).fill("engine");
    await dialog.getByLabel("Address").fill(engine.url);
    await dialog.getByLabel("Token", { exact: true }).fill("engine-token-0001");
    await dialog.getByRole("button", { name: "Add provider" }).click();
    await saved(dialog);

    await goTo(page, "overview");
    await step("Add a provider").getByText("done").waitFor();
    await step("Choose models").getByText("next").waitFor();
    await page.getByRole("link", { name: "Choose models" }).click();
    await page.getByRole("button", { name: "Fetch models" }).first().click();
    await dialog.getByLabel("qwen3:8b").check();
    await dialog.getByRole("button", { name: /^Add/ }).last().click();
    await saved(dialog);

    await goTo(page, "overview");
    await step("Choose models").getByText("done").waitFor();
    await page.getByRole("link", { name: "Create an API key" }).click();
    await page.getByRole("button", { name: "Add key" }).first().click();
    await dialog.getByLabel("Name", { exact: true }).fill("Laptop");
    await dialog.getByRole("button", { name: "Add key" }).click();
    await page.getByRole("dialog", { name: "Connect with the new key" }).waitFor();
    await page.keyboard.press("Escape");
    await saved(dialog);

    await goTo(page, "overview");
    await step("Create an API key").getByText("done").waitFor();
    await step("Send a first request").getByText("next").waitFor();
    await goTo(page, "playground");
    // The built-in names lead nowhere without a default provider: the playground begins with a model that answers.
    const model = page.getByLabel("Model", { exact: true });
    await expect.poll(() => model.inputValue()).toBe("engine/qwen3:8b");
    await page.getByLabel("Message").fill("Hello?");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Hello from the engine.").first().waitFor();
    // What the sandbox does says nothing of an engine.
    expect(await page.getByText("The development provider").count()).toBe(0);

    await goTo(page, "overview");
    await page.getByText("Slots in use").waitFor();
    await checklist.waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("Slots in use").waitFor();
    expect(await checklist.count()).toBe(0);
  });
});
