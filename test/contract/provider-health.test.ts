import { afterAll, expect, it } from "vitest";
import { startBrokenEngine } from "../support/broken-engine.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const running = useAdmin();
const { admin, chat } = running;

const engine = await startBrokenEngine();
afterAll(() => engine.close());

const metrics = async () => {
  const answer = await running.fetch("/admin/metrics", { headers: { authorization: "Bearer admin" } });
  return (await answer.text()).split("\n").filter((line) => line.startsWith("polygate_provider_health"));
};
const ask = async (count: number) => {
  for (let request = 0; request < count; request += 1) await chat("Hi", { model: "engine/m" });
};

it("a provider with a single token that fails is down in its list, in metrics and in alerts, until it works", async () => {
  expect((await admin("POST", "/admin/providers", engine.provider)).status).toBe(200);
  const state = (name: string) => `polygate_provider_health{provider="engine",state="${name}"} 1`;
  expect(await metrics()).toEqual(
    expect.arrayContaining([
      'polygate_provider_health{provider="default",state="healthy"} 1',
      state("healthy"),
    ]),
  );
  await ask(5);
  expect((await admin("GET", "/admin/providers/engine")).body).toMatchObject({
    health: "down",
    last_error: { reason: expect.any(String) },
  });
  expect(await metrics()).toContain(state("down"));
  await admin("PUT", "/admin/alerts", { webhooks: [{ id: "ops", url: "https://hooks.example.com/T0" }] });
  const firing = async () => Object((await admin("GET", "/admin/alerts")).body["firing"]);
  const [alert] = await until(firing, (alerts) => alerts.length > 0);
  expect(alert).toMatchObject({
    kind: "provider_down",
    subject: "engine",
    message: expect.stringMatching(/^the provider engine is down: /),
  });
  engine.repair();
  await ask(8);
  expect((await admin("GET", "/admin/providers/engine")).body).toMatchObject({ health: "degraded" });
  expect(await metrics()).toContain(state("degraded"));
});
