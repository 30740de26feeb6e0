import { afterAll, expect, it } from "vitest";
import { startBrokenEngine } from "../support/broken-engine.ts";
import { describeWithBrowser } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { goTo, useConsole } from "../support/use-console.ts";

const engine = await startBrokenEngine();
afterAll(() => engine.close());

describeWithBrowser("a provider with a single token that fails", () => {
  const app = useConsole();
  const ask = async (count: number) => {
    for (let request = 0; request < count; request += 1) await app.chat("Hi", { model: "engine/m" });
  };

  it("is shown on the overview and in the list of providers, until it works", async () => {
    await app.admin("POST", "/admin/providers", engine.provider);
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
    engine.repair();
    await goTo(page, "providers");
    await ask(8);
    await state.getByText("degraded").waitFor();
    await goTo(page, "overview");
    await page.getByText(/The provider engine has elevated errors/).waitFor();
  });

  it("can be reported by an alert", async () => {
    const page = await app.at("alerts");
    await page.getByText("Provider down").waitFor();
  });
});

describeWithBrowser("a request that a limit of its key refuses", () => {
  const app = useConsole();

  it("counts for no provider on the overview and in the list of providers", async () => {
    const key = "sk-once-0123456789";
    await app.admin("POST", "/admin/keys", { key, id: "once", limits: { requests_per_minute: 1 } });
    const statuses: number[] = [];
    while (statuses.length < 3) {
      const answer = await app.chat("Hi", {}, { authorization: `Bearer ${key}` });
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 429, 429]);
    await until(
      async () => Object((await app.admin("GET", "/admin/usage?granularity=total")).body["totals"]),
      ({ requests }) => requests === 3,
    );
    const page = await app.at("providers");
    const row = page.getByRole("row", { name: /^default/ });
    await row.getByText(/^1 request(?!s)/).waitFor();
    await goTo(page, "overview");
    const health = page.getByRole("table").filter({ hasText: "Failed attempts" }).getByRole("row");
    await health
      .filter({ hasText: "default" })
      .first()
      .getByRole("cell", { name: "1", exact: true })
      .waitFor();
  });
});

describeWithBrowser("a default provider that needs no account", () => {
  const app = useConsole({
    vars: { PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: "http://engine.test/v1", PROVIDER_TOKEN: "none" },
  });

  it("is not listed with 0 accounts", async () => {
    const page = await app.at("providers");
    const row = page.getByRole("row", { name: /^default/ });
    await row.getByText("no account needed").waitFor();
    expect(await row.getByText("0 accounts").count()).toBe(0);
  });
});

describeWithBrowser("further providers without accounts", () => {
  const app = useConsole();

  it.each([
    ["keyless", "openai", "", "no account needed"],
    ["with-token", "openai", "secret-0123456789", "shared token"],
    ["sign-in", "sessions", "", "0 accounts"],
    ["sign-in-token", "sessions", "secret-0123456789", "0 accounts"],
  ])("say whether they need one: %s", async (id, driver, token, told) => {
    await app.admin("POST", "/admin/providers", { id, driver, token, base_url: "http://engine.test/v1" });
    const page = await app.at("providers");
    const row = page.getByRole("row", { name: new RegExp(`^${id} `) });
    await row.getByText(told).waitFor();
    await goTo(page, `providers/${id}`);
    const warns = page.getByText("This provider has no account yet");
    const notes = page.getByText("Requests carry no key");
    await page.getByText("No models yet").waitFor();
    expect([await warns.count(), await notes.count()]).toEqual([
      driver === "sessions" ? 1 : 0,
      id === "keyless" ? 1 : 0,
    ]);
  });
});
