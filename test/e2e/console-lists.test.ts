import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { startChatBackend } from "../support/chat-backend.ts";
import { serve } from "../support/local-server.ts";
import { goTo, saved, useConsole } from "../support/use-console.ts";

const engine = await startChatBackend({
  models: ["gpt-4o", "gpt-4o-mini"],
  says: "Hello.",
  usageOf: (model) =>
    JSON.stringify({
      prompt_tokens: model === "gpt-4o" ? 9_000 : 10,
      completion_tokens: 2,
      total_tokens: 12,
    }),
});
const broken = await startChatBackend({ models: ["gpt-4o"], says: "", refuses: 503 });
const hook = await serve((request, response) => {
  request.resume();
  response.writeHead(request.url === "/works" ? 204 : 500).end();
});
afterAll(async () => {
  await Promise.all([hook.close(), engine.close(), broken.close()]);
});

const KEYS = 40;
const keyAt = (index: number): string => `sk-lists-${index}`;

describeWithBrowser("lists and tests of the console", () => {
  const app = useConsole();

  beforeAll(async () => {
    const provider = { driver: "openai", token: "engine-token-0001" };
    const config = {
      api_keys: Array.from({ length: KEYS }, (_, index) => ({
        key: keyAt(index),
        name: `Key ${String(index).padStart(2, "0")}`,
        ...(index === 7 && { limits: { tokens_per_day: 500 } }),
      })),
      providers: [
        // Prices are known of a vendor's address. Nothing is sent there.
        { ...provider, id: "vendor", base_url: "https://api.openai.com/v1", models: {} },
        {
          ...provider,
          id: "engine",
          base_url: engine.url,
          models: { "gpt-4o": "gpt-4o", "gpt-4o-mini": "gpt-4o-mini" },
        },
        { ...provider, id: "broken", base_url: broken.url, models: { "gpt-4o": "gpt-4o" } },
      ],
      prices: { "engine/gpt-4o": { input: 2.5, output: 10 }, "engine/gpt-4o-mini": { input: 1, output: 1 } },
      model_routes: { first: ["engine/gpt-4o-mini"], second: ["broken/gpt-4o"] },
    };
    expect(await app.admin("POST", "/admin/config/import", { config, mode: "merge" })).toMatchObject({
      status: 200,
    });
    await app.admin("PUT", "/admin/alerts", {
      private_hosts: [hook.host],
      webhooks: ["works", "fails"].map((name) => ({
        name: `Hook ${name}`,
        url: `${hook.origin}/${name}`,
        format: "json",
      })),
    });
  });

  /** Sends a request with a key. */
  const ask = async (index: number, model: string) => {
    const answer = await app.fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${keyAt(index)}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    await answer.text();
  };

  it.each([
    ["providers", "Test engine", /^\d+ ms|\d s$/],
    ["providers", "Test broken", /503/],
    ["models", "Test engine/gpt-4o-mini", /^\d+ ms|\d s$/],
    ["models", "Test the route first", /^\d+ ms|\d s$/],
    ["models", "Test the route second", /503/],
  ])("at %s, the button “%s” shows the result", async (name, button, result) => {
    const page = await app.at(name);
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("button", { name: button, exact: true }) });
    await row.getByRole("button", { name: button, exact: true }).click();
    await row.locator("[aria-live]").getByText(result).first().waitFor();
  });

  it.each([
    ["Hook works", "Test delivered"],
    ["Hook fails", "Test not delivered: "],
  ])("the test of the webhook “%s” says “%s”", async (name, result) => {
    const page = await app.at("alerts");
    await page.getByRole("row", { name }).getByRole("button", { name: /^Test/ }).click();
    await page.getByText(result).waitFor();
  });

  it("search, sort and page keys, with bars of the usage and a choice of styles", async () => {
    for (let request = 0; request < 3; request += 1) await ask(7, "engine/gpt-4o-mini");
    const page = await app.at("keys");
    await page.getByText("41 keys").waitFor();
    await page.getByText("1 / 3", { exact: true }).waitFor();
    await page.getByLabel("Sorted by").selectOption("Name");
    await page.getByRole("row", { name: /Key 00/ }).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("row", { name: /Key 15/ }).waitFor();
    await page.getByLabel("Search name, remark, state, model or style").fill("key 07");
    const row = page.getByRole("row", { name: /Key 07/ });
    await row.getByText("36 of 500 (Tokens per day)").waitFor();
    const bar = row.getByRole("progressbar", { name: "Tokens per day" });
    expect(Number(await bar.getAttribute("value"))).toBe(36);

    await row.getByRole("button", { name: /^Edit/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("OpenAI chat completions").check();
    await dialog.getByLabel("Ollama", { exact: true }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    const { body } = await app.admin("GET", "/admin/keys?q=Key+07");
    expect(body["items"]).toMatchObject([{ dialects: ["chat-completions", "model-runner"] }]);
  });

  it("fetched models have a price and a context, and the models of a route are dragged", async () => {
    const stated = { context: 128_000, vision: true, price: { input: 2.5, output: 10 } };
    const page = await app.at("connect");
    await page.route("**/admin/providers/vendor/models", async (route) =>
      route.request().method() === "GET"
        ? route.fulfill({ json: { driver: "openai", models: ["gpt-4o"], details: { "gpt-4o": stated } } })
        : route.continue(),
    );
    await goTo(page, "providers/vendor");
    await page.getByRole("button", { name: "Fetch models" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("128,000 tokens · 2.5 in, 10 out a million · images").waitFor();
    await dialog.getByRole("button", { name: "Add the new model" }).click();
    await saved(dialog);
    const row = page.getByRole("row", { name: /gpt-4o/ });
    await row.getByText(/128,000 tokens/).waitFor();
    await row.getByText(/2\.5 in, 10 out/).waitFor();

    await goTo(page, "models");
    await page.getByRole("button", { name: "Edit the route first" }).click();
    await dialog.getByRole("button", { name: "Add model" }).click();
    await dialog.getByLabel("Model 2", { exact: true }).fill("vendor/gpt-4o");
    await dialog
      .locator(".route-targets .handle")
      .nth(1)
      .dragTo(dialog.getByLabel("Model 1", { exact: true }));
    await expect.poll(() => dialog.getByLabel("Model 1", { exact: true }).inputValue()).toBe("vendor/gpt-4o");
    await dialog.getByRole("button", { name: "Save route" }).click();
    await saved(dialog);
    await page.getByText("vendor/gpt-4o → engine/gpt-4o-mini").waitFor();
  });

  it("the groups of usage are sorted and paged, and the overview lists what costs most", async () => {
    // More than the tests of the engine, which belong to no key.
    for (let request = 0; request < 3; request += 1) await ask(20, "engine/gpt-4o");
    for (let key = 0; key < 25; key += 1) await ask(key, "engine/gpt-4o-mini");
    const page = await app.at("usage");
    const groups = page.getByRole("region", { name: "By key" });
    // The page reads the usage, which is written within seconds, twice a minute.
    await expect
      .poll(
        async () => {
          await page.reload();
          return groups
            .getByText("1 / 2", { exact: true })
            .waitFor({ timeout: 2_000 })
            .then(
              () => true,
              () => false,
            );
        },
        { timeout: 30_000 },
      )
      .toBe(true);
    await groups.getByLabel("Sorted by").selectOption("Cost");
    await groups
      .getByRole("row", { name: /^Key 20 / })
      .and(groups.getByRole("row").nth(1))
      .waitFor();
    await groups.getByRole("button", { name: "Next" }).click();
    await groups.getByText("2 / 2", { exact: true }).waitFor();

    await goTo(page, "overview");
    const top = page.getByRole("region", { name: "Top" });
    await top.getByRole("button", { name: "Cost" }).click();
    await top.getByRole("table").nth(1).getByRole("row").nth(1).getByText("Key 20").waitFor();
  });
});
