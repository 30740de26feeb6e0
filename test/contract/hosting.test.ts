import { text } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { HostingPlatform } from "../support/hosting-platform.ts";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

const platform = new HostingPlatform();
const server = await serve(async (request, response, url) => {
  const body = await text(request);
  const headers = { authorization: request.headers.authorization ?? "" };
  const init = { method: request.method ?? "GET", headers, body: body === "" ? null : body };
  const answer = await platform.fetch(url.href, init);
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
});
const HOSTING_API_BASE_URL = server.origin;
afterAll(() => server.close());

const { admin } = useAdmin({ vars: { HOSTING_API_BASE_URL } });
const sync = (body: object) => admin("POST", "/admin/hosting/sync", body);
const hosting = async () => (await admin("GET", "/admin/hosting/status")).body;
const CREDENTIALS = { vercel_token: "hosting-token-0123456789", project_id: "prj_1", team_id: "team_1" };

describe("hosting sync", () => {
  beforeEach(() => platform.reset());

  it.each([
    [{}, "vercel_token"],
    [{ vercel_token: "token" }, "project_id"],
  ])("refuses %j", async (body, field) => {
    expect(await sync(body)).toEqual({ status: 400, body: { detail: expect.stringContaining(field) } });
    expect(platform.calls).toEqual([]);
  });

  it("sends the configuration, deploys again and remembers what it sent", async () => {
    const { status, body: answer } = await sync(CREDENTIALS);
    expect(status).toBe(200);
    expect(answer).toEqual({
      success: true,
      validated_accounts: 3,
      saved_credentials: ["vercel_token", "project_id", "team_id"],
      deployment_url: "https://gateway-new.example.app",
      message: expect.any(String),
    });
    expect(platform.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v10/projects/prj_1/env",
      "GET /v6/deployments",
      "POST /v13/deployments",
    ]);
    for (const call of platform.calls) {
      expect(call.authorization).toBe(`Bearer ${CREDENTIALS.vercel_token}`);
      expect(call.query["teamId"]).toBe("team_1");
    }
    expect(platform.calls[0]?.query["upsert"]).toBe("true");
    expect(platform.calls[2]?.body).toEqual({
      name: "gateway",
      deploymentId: "dpl_old",
      target: "production",
    });
    expect(platform.calls[0]?.body).toMatchObject({
      key: "GATEWAY_CONFIG_JSON",
      target: expect.arrayContaining(["production"]),
    });
    const sent = JSON.parse(Buffer.from(String(platform.calls[0]?.body["value"]), "base64").toString());
    expect(sent.api_keys[0].key).toBe("sk-dev");
    expect(sent.accounts.length).toBe(3);
    expect(JSON.stringify(sent)).not.toContain(CREDENTIALS.vercel_token);

    const after = await hosting();
    expect(after).toMatchObject({ synced: true, has_synced_before: true, draft_differs: false });
    expect(after["last_synced_hash"]).toBe(sent.sync.hash);
    expect(Math.abs(Number(after["last_sync_time"]) - Date.now() / 1000)).toBeLessThan(30);
    expect((await admin("GET", "/admin/hosting/config")).body).toEqual({
      has_token: true,
      token_preview: "host****6789",
      token_source: "config",
      project_id: "prj_1",
      team_id: "team_1",
    });
  });

  it("sees the configuration drift, and compares a draft", async () => {
    const exported = (await admin("GET", "/admin/config/export")).body["config"];
    await admin("POST", "/admin/keys", { key: "sk-drift" });
    expect(await hosting()).toMatchObject({ synced: false, has_synced_before: true, draft_differs: true });
    const draft = (config_override: unknown) => admin("POST", "/admin/hosting/status", { config_override });
    expect((await draft(exported)).body).toMatchObject({ synced: false, draft_differs: false });
    expect((await admin("POST", "/admin/hosting/status")).body).toMatchObject({ draft_differs: true });
    expect(await draft({ history: { limit: -1 } })).toEqual({
      status: 400,
      body: { detail: expect.stringContaining("limit") },
    });
    await admin("DELETE", "/admin/keys/sk-drift");
    expect(await hosting()).toMatchObject({ synced: true });
  });

  it("names the accounts that do not work, and still syncs", async () => {
    await admin("POST", "/admin/accounts", { email: "suspended@sandbox.test", password: "sandbox" });
    const { body: answer } = await sync({});
    expect(answer).toMatchObject({
      success: true,
      validated_accounts: 3,
      failed_accounts: [{ account: "suspended@sandbox.test", message: expect.any(String) }],
    });
    await admin("DELETE", "/admin/accounts/suspended%40sandbox.test");
  });

  it.each([
    [403, 400, "refused the token"],
    [500, 503, "status 500"],
  ])("passes on a %i of the platform as a %i", async (status, answered, why) => {
    platform.refuse = {
      path: "/v10/",
      status,
      body: { error: { message: `not with ${CREDENTIALS.vercel_token}` } },
    };
    const result = await sync({ auto_validate: false });
    expect(result).toEqual({ status: answered, body: { detail: expect.stringContaining(why) } });
    expect(JSON.stringify(result)).not.toContain(CREDENTIALS.vercel_token);
  });
});

describe("a gateway with credentials in its environment", () => {
  it("prefers those to the saved ones, and does not change a read-only configuration", async () => {
    platform.reset();
    const gateway = await startGateway({
      vars: {
        HOSTING_API_BASE_URL,
        VERCEL_TOKEN: "environment-token-0123456789",
        VERCEL_PROJECT_ID: "prj_env",
        GATEWAY_CONFIG_JSON: JSON.stringify({
          api_keys: [{ key: "sk-env" }],
          vercel: { token: "saved", project_id: "prj_saved", team_id: "team_saved" },
        }),
      },
    });
    try {
      const headers = { authorization: "Bearer admin" };
      const seen = await (await gateway.fetch("/admin/hosting/config", { headers })).json();
      expect(seen).toEqual({
        has_token: true,
        token_preview: "envi****6789",
        token_source: "env",
        project_id: "prj_env",
        team_id: "team_saved",
      });
      const response = await gateway.fetch("/admin/hosting/sync", { method: "POST", headers });
      expect(await response.json()).toMatchObject({ success: true, validated_accounts: 0 });
      expect(platform.calls[0]).toMatchObject({
        path: "/v10/projects/prj_env/env",
        authorization: "Bearer environment-token-0123456789",
        query: { teamId: "team_saved" },
      });
      const status = await (await gateway.fetch("/admin/hosting/status", { headers })).json();
      expect(status).toMatchObject({ env_backed: true });
    } finally {
      await gateway.close();
    }
  });
});
