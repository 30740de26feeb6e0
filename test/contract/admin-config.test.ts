import { describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

const { admin, chat } = useAdmin();
const readOnly = useAdmin({
  vars: {
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: ["sk-env-0123456789abcdef"],
      accounts: [{ email: "one@sandbox.test", password: "sandbox" }],
    }),
  },
});

describe("GET /admin/config", () => {
  it("has all groups, masked, and the source of the configuration", async () => {
    const { status, body } = await admin("GET", "/admin/config");
    expect(status).toBe(200);
    for (const group of [
      "keys",
      "api_keys",
      "accounts",
      "model_aliases",
      "admin",
      "runtime",
      "responses",
      "embeddings",
      "auto_delete",
      "current_input_file",
      "thinking_injection",
    ]) {
      expect(body, group).toHaveProperty(group);
    }
    expect(body["vercel"]).toEqual({
      has_token: false,
      token_preview: "",
      token_source: "",
      project_id: "",
      team_id: "",
    });
    expect(body).toMatchObject({
      env_backed: false,
      env_source_present: false,
      env_writeback_enabled: false,
      config_path: expect.any(String),
    });
    expect(JSON.stringify(body)).not.toContain('sandbox"');
    expect(JSON.stringify(body)).not.toContain("sk-dev");
  });
});

describe("POST /admin/config", () => {
  it("replaces the sent groups and answers the updated configuration", async () => {
    const { status, body } = await admin("POST", "/admin/config", {
      api_keys: [
        { key: "sk-dev", name: "development" },
        { key: "sk-second-0123456789", name: "second" },
      ],
      model_aliases: { mine: "provider-v4-pro" },
    });
    expect(status).toBe(200);
    expect(body["api_keys"]).toMatchObject([{ name: "development" }, { name: "second" }]);
    expect(body["model_aliases"]).toEqual({ mine: "provider-v4-pro" });
    expect(body["accounts"]).toHaveLength(3);
    expect((await chat("hi", {}, { authorization: "Bearer sk-second-0123456789" })).status).toBe(200);
    const aliased = await chat("hi", { model: "mine" });
    expect(await aliased.json()).toMatchObject({ model: "provider-v4-pro" });
  });

  it("prefers api_keys to keys, and takes keys alone as the list of keys", async () => {
    const both = await admin("POST", "/admin/config", {
      api_keys: [{ key: "sk-dev", name: "kept" }],
      keys: ["sk-ignored-0123456789"],
    });
    expect(both.body["api_keys"]).toHaveLength(1);
    const legacy = await admin("POST", "/admin/config", { keys: ["sk-dev", "sk-legacy-0123456789"] });
    expect(legacy.body["api_keys"]).toMatchObject([{ name: "kept" }, { name: "" }]);
  });

  it("leaves secrets alone when the masked view is sent back", async () => {
    const limits = { requests_per_minute: 9, not_known_yet: 1 };
    const entry = { key: "sk-dev", limits, expires: 4_000_000_000_000, colour: "red" };
    await admin("POST", "/admin/config/import", { api_keys: [entry] });
    const before = await admin("GET", "/admin/config/export");
    expect(before.body["config"]).toMatchObject({ api_keys: [{ limits, colour: "red" }, {}] });
    const { body } = await admin("GET", "/admin/config");
    const sent = await admin("POST", "/admin/config", body);
    expect(sent.status).toBe(200);
    expect((await admin("GET", "/admin/config/export")).body["config"]).toEqual(before.body["config"]);
  });

  it.each([
    [{}, "api_keys"],
    [{ keys: "sk" }, "keys"],
    [{ api_keys: [{ key: "" }] }, "api_keys[0].key"],
    [{ keys: ["zzzz****zzzz"] }, "keys[0]"],
    [{ accounts: [{ email: 7 }] }, "accounts[0].email"],
    [{ accounts: [{ password: "x" }] }, "accounts[0]"],
    [{ accounts: [{ email: "a@b.c", password: "x", proxy_id: "none" }] }, "accounts[0].proxy_id"],
    [
      {
        accounts: [
          { email: "a@b.c", password: "x" },
          { email: "A@b.c", password: "x" },
        ],
      },
      "accounts[1]",
    ],
    [{ model_aliases: { mine: "no-such-model" } }, "model_aliases.mine"],
  ])("refuses %j, names the field, and changes nothing", async (body, field) => {
    const before = await admin("GET", "/admin/config/export");
    const answer = await admin("POST", "/admin/config", body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(field);
    expect(await admin("GET", "/admin/config/export")).toEqual(before);
  });
});

describe("a configuration from the environment", () => {
  it("is reported as such, refuses edits with the remedy, and lets administrators sign in", async () => {
    const { body } = await readOnly.admin("GET", "/admin/config");
    expect(body).toMatchObject({
      env_backed: true,
      env_source_present: true,
      env_writeback_enabled: false,
      config_path: "env:GATEWAY_CONFIG_JSON",
    });
    const edit = await readOnly.admin("POST", "/admin/keys", { key: "sk-new" });
    expect(edit.status).toBe(409);
    expect(edit.body["detail"]).toContain("GATEWAY_CONFIG_WRITEBACK");
    const login = await readOnly.admin("POST", "/admin/login", { admin_key: "admin" }, null);
    expect(login.status).toBe(200);
    const verified = await readOnly.admin("GET", "/admin/verify", undefined, String(login.body["token"]));
    expect(verified.body["valid"]).toBe(true);
  });

  it("tests accounts with a warning that tokens are lost on restart", async () => {
    const { body } = await readOnly.admin("POST", "/admin/accounts/test", { identifier: "one@sandbox.test" });
    expect(body).toMatchObject({ success: true, config_writable: false });
    expect(body["config_warning"]).toContain("lost on restart");
  });
});
