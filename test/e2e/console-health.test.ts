import { afterAll, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { serve } from "../support/pages.ts";
import { goTo, useConsole } from "../support/use-console.ts";

/** An engine that refuses to work until it is repaired. */
let isRepaired = false;
const engine = await serve((_, response) => {
  response.writeHead(isRepaired ? 200 : 500, { "content-type": "application/json" });
  const message = { role: "assistant", content: "Hi" };
  response.end(
    isRepaired
      ? JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] })
      : JSON.stringify({ error: { message: "out of order" } }),
  );
});
afterAll(() => engine.close());

describeWithBrowser("a provider with a single token that fails", () => {
  const app = useConsole();
  const ask = async (count: number) => {
    for (let request = 0; request < count; request += 1) await app.chat("Hi", { model: "engine/m" });
  };

  it("is shown on the overview and in the list of providers, until it works", async () => {
    await app.admin("POST", "/admin/providers", {
      id: "engine",
      driver: "openai",
      base_url: `${engine.origin}/v1`,
      token: "secret",
      models: { m: "m" },
    });
    const page = await app.at("providers");
    const state = page.getByRole("row", { name: /^engine/ });
    await state.getByText("Healthy").waitFor();
    await ask(1);
    await state.getByText("degraded").waitFor();
    await goTo(page, "overview");
    await page.getByText(/The provider engine has elevated errors: .*out of order/).waitFor();
    await ask(4);
    await page.getByText(/The provider engine is down: .*out of order/).waitFor();
    await goTo(page, "providers");
    await state.getByText("down", { exact: true }).waitFor();
    await state.getByText(/out of order/).waitFor();
    await goTo(page, "overview");
    const health = page.getByRole("row", { name: /^engine.*out of order/ });
    await health.getByText("100%").waitFor();
    await health.getByRole("button", { name: "Test engine" }).click();
    await health.getByText(/503/).waitFor();
    isRepaired = true;
    await goTo(page, "providers");
    await ask(8);
    await state.getByText("degraded").waitFor();
    await goTo(page, "overview");
    await page.getByText(/The provider engine has elevated errors/).waitFor();
  });

  it("may tell of itself by an alert", async () => {
    const page = await app.at("alerts");
    await page.getByText("Provider down").waitFor();
  });
});
