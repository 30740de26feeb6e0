import { expect, it } from "vitest";
import { isObject } from "../../../../../src/core/encoding/json.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { refuses, says, thinksOnly } from "../../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();
const headers = { authorization: "Bearer admin" };
const chat = { model: "provider-v4-flash", messages: [{ role: "user", content: "Hello" }] };

it("summarizes recent requests in less than 10 kB for every range", async () => {
  const gateway = await createGateway({
    env: { ADMIN_KEY: "admin" },
    turns: [says("Hi"), refuses(400, "invalid_request")],
  });
  await gateway.post("/v1/chat/completions", chat);
  const failed = await gateway.post("/v1/chat/completions", { ...chat, stream: true });
  await failed.text();
  await gateway.settle();
  for (const [range, steps] of [
    ["15m", 15],
    ["1h", 60],
    ["6h", 72],
    ["24h", 96],
    ["7d", 84],
  ] as const) {
    const response = await gateway.request(`/admin/activity?range=${range}`, { headers });
    const text = await response.text();
    expect(text.length, range).toBeLessThan(10_000);
    const body: unknown = JSON.parse(text);
    expect(body, range).toMatchObject({
      totals: { requests: 2, succeeded: 1, failed: 1 },
      errors: [{ outcome: "error", code: "invalid_request", requests: 1 }],
    });
    const series = isObject(body) && isObject(body["series"]) ? body["series"] : {};
    expect(series["requests"]).toHaveLength(steps);
    expect(JSON.stringify(series["requests"])).toMatch(/^\[(?:0,)*2\]$/);
  }
  expect((await gateway.request("/admin/activity?range=1y", { headers })).status).toBe(400);
});

it("states a status for a failure whose stream had none", async () => {
  const gateway = await createGateway({ env: { ADMIN_KEY: "admin" }, turns: [thinksOnly()] });
  const response = await gateway.post("/v1/chat/completions", { ...chat, stream: true });
  await response.text();
  await gateway.settle();
  const body: unknown = await (await gateway.request("/admin/activity", { headers })).json();
  expect(body).toMatchObject({ errors: [{ code: "upstream_empty_output" }] });
  const errors = isObject(body) && Array.isArray(body["errors"]) ? body["errors"] : [];
  expect(Object(errors[0])["status"]).toBeGreaterThanOrEqual(400);
});
