import { afterAll, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, Which account gets a request: an account whose quota is used up rests until the stated time. */

const running = useAdmin();
const { admin } = running;

/** The accounts that were asked, in order. */
const asked: string[] = [];
const backend = await serve((request, response) => {
  const key = String(request.headers["x-api-key"]);
  asked.push(key);
  const resets = String(Math.floor(Date.now() / 1_000) + 18_000);
  response.writeHead(200, {
    "content-type": "application/json",
    "anthropic-ratelimit-unified-5h-status": key === "spent" ? "rejected" : "allowed",
    "anthropic-ratelimit-unified-5h-utilization": key === "spent" ? "1" : "0.25",
    "anthropic-ratelimit-unified-5h-reset": resets,
  });
  const content = [{ type: "text", text: "ok" }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  response.end(JSON.stringify({ id: "x", type: "message", role: "assistant", model: "m", content, usage }));
});
afterAll(() => backend.close());

it("a quota that an answer states sets its account aside, and is shown", async () => {
  const provider = { id: "mess", driver: "anthropic", base_url: backend.origin, strategy: "round_robin" };
  expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
  const accounts = ["spent", "fresh"].map((token) => ({ token, provider: "mess" }));
  expect((await admin("POST", "/admin/config", { accounts })).status).toBe(200);
  const ask = async () => {
    const messages = [{ role: "user", content: "Hi" }];
    const response = await running.post("/v1/messages", { model: "mess/m", max_tokens: 9, messages });
    expect(response.status, await response.text()).toBe(200);
  };
  for (let request = 0; request < 8; request += 1) await ask();
  expect(asked.filter((key) => key === "spent")).toHaveLength(1);
  const { body } = await admin("GET", "/admin/accounts");
  const items: unknown = body["items"];
  expect(items).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        condition: "cooling",
        cooldown: expect.objectContaining({ kind: "rate_limited", reason: expect.stringContaining("5h") }),
        quotas: [{ name: "5h", remaining: 0, resets_at: expect.any(Number) }],
      }),
      expect.objectContaining({ quotas: [{ name: "5h", remaining: 0.75, resets_at: expect.any(Number) }] }),
    ]),
  );
});
