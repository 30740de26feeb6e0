import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const MODEL = "provider-v4-flash";

/** Parts of the answer of `GET /v1/key` that the tests read. */
interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly limits: Readonly<
    Record<
      string,
      { limit: number; used: number; remaining: number; resets_at: string | null } | null | undefined
    >
  >;
  readonly usage: Readonly<
    Record<"today" | "this_month", { requests: number; total_tokens: number; cost: number }>
  >;
  readonly available_models: readonly string[];
}

describe("GET /v1/key", () => {
  const gateway = useAdmin();
  const { admin, fetch } = gateway;

  /** A client of the openai SDK with a new key. */
  const clientWith = async (settings: Record<string, unknown>): Promise<OpenAI> => {
    const { body } = await admin("POST", "/admin/keys", settings);
    const baseURL = `${gateway.gateway.url}/v1`;
    return new OpenAI({ baseURL, apiKey: String(body["key"]), maxRetries: 0 });
  };
  const viewOf = (client: OpenAI): Promise<KeyView> => client.get("/key");

  it("has the sums that an SDK received, and the rest of each limit", async () => {
    await admin("PUT", "/admin/settings", { prices: { [MODEL]: { input: 1_000, output: 2_000 } } });
    const limits = { requests_per_minute: 50, tokens_per_day: 100_000, cost_per_month: 500, max_parallel: 5 };
    const client = await clientWith({ name: "holder", limits });
    expect(await viewOf(client)).toMatchObject({
      name: "holder",
      limits: { tokens_per_day: { limit: 100_000, used: 0, remaining: 100_000 }, tokens_per_minute: null },
      usage: { today: { requests: 0, total_tokens: 0, cost: 0 } },
    });
    let tokens = 0;
    let cost = 0;
    for (const content of ["One question", "Another question that is longer"]) {
      const { usage } = await client.chat.completions.create({
        model: MODEL,
        messages: [{ role: "user", content }],
      });
      tokens += usage?.total_tokens ?? Number.NaN;
      cost += (usage?.prompt_tokens ?? Number.NaN) / 1_000 + (usage?.completion_tokens ?? Number.NaN) / 500;
    }
    const view = await until(
      () => viewOf(client),
      ({ usage }) => usage.today.requests === 2,
    );
    for (const period of ["today", "this_month"] as const) {
      expect(view.usage[period]).toMatchObject({ requests: 2, total_tokens: tokens });
      expect(view.usage[period].cost).toBeCloseTo(cost, 9);
    }
    expect(view.limits["requests_per_minute"]).toEqual({
      limit: 50,
      used: 2,
      remaining: 48,
      resets_at: null,
    });
    expect(view.limits["max_parallel"]).toMatchObject({ used: 0, remaining: 5 });
    expect(view.limits["tokens_per_day"]).toMatchObject({ used: tokens, remaining: 100_000 - tokens });
    expect(view.limits["cost_per_month"]?.remaining).toBeCloseTo(500 - cost, 9);
    const midnight = new Date();
    midnight.setUTCHours(24, 0, 0, 0);
    expect(view.limits["tokens_per_day"]?.resets_at).toBe(midnight.toISOString());
  });

  it("lists the models and styles that the key allows, and answers only for that key", async () => {
    const scope = { models: ["provider-v4-pro*", "gpt-4o"], dialects: ["messages"] };
    const client = await clientWith({ name: "narrow", ...scope, expires: Date.now() + 3_600_000 });
    const view = await viewOf(client);
    expect(view).toMatchObject({ name: "narrow", models: scope.models, styles: ["messages"] });
    expect(view.available_models).toEqual([
      "provider-v4-pro",
      "provider-v4-pro-nothinking",
      "provider-v4-pro-search",
      "provider-v4-pro-search-nothinking",
    ]);
    const listed = await client.models.list();
    expect(listed.data.map(({ id }) => id)).toEqual(expect.arrayContaining([...view.available_models]));
    expect(JSON.stringify(view)).not.toContain("holder");
    expect(JSON.stringify(view)).not.toContain(client.apiKey);
  });

  it("requires a valid key of the gateway", async () => {
    expect((await fetch("/v1/key")).status).toBe(401);
    expect((await admin("GET", "/v1/key")).status).toBe(401);
    const client = await clientWith({ name: "off", disabled: true });
    await expect(viewOf(client)).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
    const headers = { authorization: "Bearer token-of-the-provider" };
    const response = await fetch("/v1/key", { headers });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  });

  it("is never stored by a cache", async () => {
    const response = await fetch("/v1/key", { headers: { authorization: "Bearer sk-dev" } });
    expect(response.headers.get("cache-control")).toBe("no-store");
    await response.body?.cancel();
  });
});
