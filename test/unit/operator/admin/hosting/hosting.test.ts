import { beforeEach, describe, expect, it } from "vitest";
import { isObject } from "../../../../../src/core/encoding/json.ts";
import { HostingPlatform } from "../../../../support/hosting-platform.ts";
import { ADMIN_ENV, callAdmin } from "../../../../support/memory-admin.ts";
import {
  MemoryGateway,
  type MemoryGatewayOptions,
  useMemoryGateway,
} from "../../../../support/memory-gateway.ts";
import { ACCOUNTS } from "../../../../support/memory-platform.ts";
import { refuses } from "../../../../support/upstream-scripts.ts";

const hosting = new HostingPlatform();
const createGateway = useMemoryGateway();

async function hosted(options: MemoryGatewayOptions = {}): Promise<MemoryGateway> {
  const env = { ...ADMIN_ENV, HOSTING_API_BASE_URL: "http://hosting.test", ...options.env };
  const { platform, upstream, lines } = await createGateway({ ...options, env });
  return new MemoryGateway({ ...platform, deploymentFetch: hosting.fetch }, upstream, lines);
}

const TOKEN = "hosting-token-0123456789";
const CREDENTIALS = { vercel_token: TOKEN, project_id: "prj_1", team_id: "team_1" };
const NOT_TESTED = { ...CREDENTIALS, auto_validate: false };

beforeEach(() => hosting.reset());

const sync = (gateway: MemoryGateway, body: object, headers = {}) =>
  callAdmin(gateway, "POST", "/hosting/sync", body, headers);
const statusOf = async (gateway: MemoryGateway) => (await callAdmin(gateway, "GET", "/hosting/status")).body;
const configOf = async (gateway: MemoryGateway) => (await callAdmin(gateway, "GET", "/hosting/config")).body;

describe("hosting sync", () => {
  it("is empty at first", async () => {
    const gateway = await hosted();
    expect(await configOf(gateway)).toMatchObject({ has_token: false, token_source: "none", project_id: "" });
    expect(await statusOf(gateway)).toMatchObject({
      synced: false,
      last_sync_time: 0,
      has_synced_before: false,
      config_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      last_synced_hash: "",
      draft_differs: true,
    });
  });

  it.each([
    [{}, "vercel_token"],
    [{ vercel_token: "__USE_PRECONFIG__" }, "vercel_token"],
    [{ vercel_token: "token" }, "project_id"],
    [{ auto_validate: "perhaps" }, "auto_validate"],
  ])("refuses %j", async (body, field) => {
    const answer = await sync(await hosted(), body);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(field) } });
    expect(hosting.calls).toEqual([]);
  });

  it("sends nothing for a version of the configuration that is gone", async () => {
    const { status } = await sync(await hosted(), CREDENTIALS, { "if-match": '"999"' });
    expect([status, hosting.calls]).toEqual([412, []]);
  });

  it("sends the configuration without its own credentials, deploys again and remembers it", async () => {
    const gateway = await hosted();
    expect((await sync(gateway, CREDENTIALS)).body).toEqual({
      success: true,
      validated_accounts: ACCOUNTS.length,
      saved_credentials: ["vercel_token", "project_id", "team_id"],
      deployment_url: "https://gateway-new.example.app",
      message: expect.any(String),
    });
    expect(hosting.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /v10/projects/prj_1/env",
      "GET /v6/deployments",
      "POST /v13/deployments",
    ]);
    for (const { authorization, query } of hosting.calls)
      expect([authorization, query["teamId"]]).toEqual([`Bearer ${TOKEN}`, "team_1"]);
    expect(hosting.calls[2]?.body).toEqual({
      name: "gateway",
      deploymentId: "dpl_old",
      target: "production",
    });
    expect(hosting.calls[0]).toMatchObject({
      query: { upsert: "true" },
      body: { key: "GATEWAY_CONFIG_JSON" },
    });
    const sent: unknown = JSON.parse(
      Buffer.from(String(hosting.calls[0]?.body["value"]), "base64").toString(),
    );
    expect(sent).toMatchObject({ accounts: ACCOUNTS.map((email) => ({ email })) });
    expect(JSON.stringify(sent)).not.toContain(TOKEN);
    const after = await statusOf(gateway);
    expect(after).toMatchObject({ synced: true, has_synced_before: true, draft_differs: false });
    expect(isObject(sent) && sent["sync"]).toMatchObject({ hash: after["last_synced_hash"] });
    expect(await configOf(gateway)).toMatchObject({
      token_preview: "host****6789",
      token_source: "config",
      project_id: "prj_1",
      team_id: "team_1",
    });
  });

  it("uses saved credentials, and saves none on request", async () => {
    const gateway = await hosted();
    await sync(gateway, NOT_TESTED);
    hosting.calls.length = 0;
    const { body } = await sync(gateway, {
      vercel_token: "__USE_PRECONFIG__",
      project_id: "prj_other",
      auto_validate: false,
      save_credentials: false,
    });
    expect(body).toMatchObject({ success: true, validated_accounts: 0 });
    expect(body).not.toHaveProperty("saved_credentials");
    expect(hosting.calls[0]).toMatchObject({
      path: "/v10/projects/prj_other/env",
      authorization: `Bearer ${TOKEN}`,
    });
    expect(await configOf(gateway)).toMatchObject({ project_id: "prj_1" });
  });

  it("detects a changed configuration, and compares a draft", async () => {
    const gateway = await hosted();
    await sync(gateway, NOT_TESTED);
    const { config } = (await callAdmin(gateway, "GET", "/config/export")).body;
    await callAdmin(gateway, "POST", "/keys", { key: "sk-drift" });
    expect(await statusOf(gateway)).toMatchObject({ synced: false, has_synced_before: true });
    const draft = (config_override: unknown) =>
      callAdmin(gateway, "POST", "/hosting/status", { config_override });
    expect((await draft(config)).body).toMatchObject({ synced: false, draft_differs: false });
    expect((await callAdmin(gateway, "POST", "/hosting/status")).body).toMatchObject({ draft_differs: true });
    expect(await draft({ history: { limit: -1 } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("limit") },
    });
    await callAdmin(gateway, "DELETE", "/keys/sk-drift");
    expect(await statusOf(gateway)).toMatchObject({ synced: true });
  });

  it("names the accounts that do not work, and still syncs", async () => {
    const gateway = await hosted({
      other: (asked) =>
        asked.path === "/api/login" && asked.json()["email"] === ACCOUNTS[0]
          ? refuses(403, "account_suspended")
          : undefined,
    });
    expect((await sync(gateway, CREDENTIALS)).body).toMatchObject({
      success: true,
      validated_accounts: ACCOUNTS.length - 1,
      failed_accounts: [{ account: ACCOUNTS[0], message: expect.any(String) }],
    });
  });

  it.each([
    ["there is none yet", () => (hosting.deployments = []), "no production deployment"],
    [
      "the platform refuses it",
      () => (hosting.refuse = { path: "/v13/", status: 402, body: { error: { message: "pay first" } } }),
      "pay first",
    ],
    ["it says nothing", () => (hosting.refuse = { path: "/v13/", status: 200, body: {} }), "by hand"],
    ["it answers a page", () => (hosting.refuse = { path: "/v13/", status: 200, body: "<html>" }), "by hand"],
  ])("states that the deployment must be started by hand if %s", async (_, prepare, why) => {
    prepare();
    const { body } = await sync(await hosted(), NOT_TESTED);
    expect(body).toMatchObject({
      success: true,
      manual_deploy_required: true,
      message: expect.stringContaining(why),
    });
    expect(body).not.toHaveProperty("deployment_url");
  });

  it.each([
    ["a page", 200, "<html>Sign in</html>", 503, "no JSON"],
    ["a list of what failed", 200, { failed: [{ error: { message: "a bad target" } }] }, 503, "bad target"],
    ["403", 403, { error: { message: `not with ${TOKEN}` } }, 400, "refused the token"],
    ["404", 404, { error: { message: `not with ${TOKEN}` } }, 400, "no such project"],
    ["413", 413, {}, 400, "refused"],
    ["500", 500, { error: { message: `not ${"A".repeat(60)}` } }, 503, "status 500"],
    ["no connection", 0, null, 503, "cannot be reached"],
  ])("fails after %s of the platform, without showing its secrets", async (_, status, body, is, why) => {
    const gateway = await hosted();
    const before = await statusOf(gateway);
    hosting.refuse = { path: "/v10/", status, body };
    const answer = await sync(gateway, NOT_TESTED);
    expect(answer).toMatchObject({ status: is, body: { detail: expect.stringContaining(why) } });
    expect(JSON.stringify(answer.body)).not.toMatch(/hosting-token|AAAA/);
    expect(await statusOf(gateway)).toEqual(before);
  });

  it("prefers credentials of the environment to saved ones", async () => {
    const gateway = await hosted({
      env: { VERCEL_TOKEN: "environment-token-0123456789", VERCEL_PROJECT_ID: "prj_env" },
      config: { vercel: { token: "saved", project_id: "prj_saved", team_id: "team_saved" } },
    });
    expect(await configOf(gateway)).toEqual({
      has_token: true,
      token_preview: "envi****6789",
      token_source: "env",
      project_id: "prj_env",
      team_id: "team_saved",
    });
  });
});
