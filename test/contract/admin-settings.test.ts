import { beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_THINKING_PROMPT } from "../../src/gateway/generation/preparation/prepare-options.ts";
import { ON_DENO } from "../support/runtime.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const running = useAdmin();
const { admin, chat } = running;

describe("alerts", () => {
  it("go to webhooks that are kept with their secrets hidden, and never to private addresses", async () => {
    const url = "https://hooks.example.com/T0/very-secret-path";
    expect(await admin("PUT", "/admin/alerts", { webhooks: [{ url: "http://127.0.0.1/" }] })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("webhooks[0].url") },
    });
    const saved = await admin("PUT", "/admin/alerts", {
      webhooks: [
        { id: "ops", name: "Operators", url, format: "chat" },
        { id: "costs", url: "https://hooks.example.com/costs", rules: ["budget"] },
      ],
      rules: { empty_pool: { threshold: 100 } },
    });
    expect(saved).toMatchObject({
      status: 200,
      body: { secrets: { ops: expect.stringMatching(/^whsec_/), costs: expect.stringMatching(/^whsec_/) } },
    });
    const seen = await until(
      () => admin("GET", "/admin/alerts"),
      ({ body }) => Object(body["firing"]).length > 0,
    );
    expect(seen.body).toMatchObject({
      webhooks: [
        { id: "ops", url: "https://hooks.example.com/****", format: "chat", has_secret: true },
        { id: "costs", rules: ["budget"] },
      ],
      rules: { empty_pool: { enabled: true, threshold: 100, quiet_minutes: 60 } },
      firing: [{ kind: "empty_pool", value: 3 }],
      deliveries: [{ kind: "empty_pool", webhook: "ops" }],
    });
    expect(JSON.stringify(seen.body)).not.toContain("very-secret-path");
    expect((await admin("POST", "/admin/alerts/test", { webhook: "nobody" })).status).toBe(404);
    expect((await admin("POST", "/admin/alerts/test", { webhook: "costs" })).status).toBe(200);
    const misspelt = { webhooks: [{ id: "costs", rules: ["budget", "costs"] }] };
    expect(await admin("PUT", "/admin/alerts", misspelt)).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/^webhooks\[0\]\.rules\[1\]: .*"provider_down"/) },
    });
    const again = { webhooks: [{ id: "ops", disabled: true }], rules: { empty_pool: {} } };
    expect((await admin("PUT", "/admin/alerts", again)).body).toEqual({ success: true });
    const { body } = await admin("GET", "/admin/config/export");
    expect(body["config"]).toMatchObject({ alerts: { webhooks: [{ url, disabled: true }] } });
  });

  it("are not overwritten by an edit that is based on an older version", async () => {
    const headers = { authorization: "Bearer admin", "content-type": "application/json" };
    const tag = (await running.fetch("/admin/alerts", { headers })).headers.get("etag") ?? "";
    const add = async (id: string) => {
      const body = JSON.stringify({ webhooks: [{ id, url: "https://hooks.example.com/" }] });
      const init = { method: "PUT", headers: { ...headers, "if-match": tag }, body };
      return (await running.fetch("/admin/alerts", init)).status;
    };
    expect(await Promise.all([add("one"), add("two")])).toEqual(expect.arrayContaining([200, 412]));
    const { body } = await admin("GET", "/admin/alerts");
    expect(body["webhooks"]).toHaveLength(1);
  });

  it.each(["a".repeat(25), `${"a".repeat(24)}==`])("refuse a secret that is no base64: %s", async (text) => {
    const webhook = { url: "https://hooks.example.com/", secret: `whsec_${text}` };
    const refused = { status: 400, body: { detail: expect.stringContaining("webhooks[0].secret") } };
    expect(await admin("PUT", "/admin/alerts", { webhooks: [webhook] })).toMatchObject(refused);
    const config = { alerts: { webhooks: [{ id: "ops", name: "", format: "json", ...webhook }] } };
    const imported = { config, mode: "replace", confirm: true };
    expect(await admin("POST", "/admin/config/import", imported)).toMatchObject(refused);
  });
});

const DEFAULTS = {
  admin: { jwt_expire_hours: 24 },
  runtime: {
    account_max_inflight: 2,
    account_max_queue: 0,
    global_max_inflight: 0,
    account_failovers: 2,
    token_refresh_interval_hours: 6,
  },
  responses: { store_ttl_seconds: 900 },
  embeddings: { provider: "" },
  auto_delete: { mode: "none" },
  current_input_file: { enabled: true, min_chars: 200_000 },
  thinking_injection: { enabled: true, prompt: "" },
  model_aliases: {},
};

async function change(settings: Record<string, unknown>): Promise<void> {
  const { status, body } = await admin("PUT", "/admin/settings", settings);
  expect(body["detail"]).toBeUndefined();
  expect(status).toBe(200);
}

const ONE = { "x-gateway-target-account": "one@sandbox.test" };
const sessions = async () => (await running.gateway.sandbox.state()).sessions["one@sandbox.test"] ?? 0;

beforeEach(async () => {
  await change(DEFAULTS);
  await running.gateway.sandbox.reset();
});

describe("GET /admin/settings", () => {
  it("has every field of the contract, with its default", async () => {
    const { status, body } = await admin("GET", "/admin/settings");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...DEFAULTS,
      admin: {
        has_password_hash: false,
        jwt_expire_hours: 24,
        jwt_valid_after_unix: 0,
        default_password_warning: true,
      },
      thinking_injection: { enabled: true, prompt: "", default_prompt: DEFAULT_THINKING_PROMPT },
      env_backed: false,
      needs_hosting_sync: false,
    });
  });
});

describe("GET /admin/settings/fields", () => {
  it("describes each setting that PUT accepts, with the default of GET", async () => {
    const { body } = await admin("GET", "/admin/settings/fields");
    const items = Array.isArray(body["items"]) ? body["items"] : [];
    const find = (path: string) => items.find((item) => item.path === path);
    expect(find("runtime.account_max_inflight")).toEqual({
      path: "runtime.account_max_inflight",
      heading: "Load",
      title: "Concurrent requests per account",
      description: expect.any(String),
      kind: "integer",
      minimum: 1,
      maximum: 256,
      choices: [],
      multiline: false,
      placeholder: "",
      default: 2,
    });
    expect(find("thinking_injection.prompt")).toMatchObject({
      kind: "string",
      multiline: true,
      placeholder: DEFAULT_THINKING_PROMPT,
    });
    expect(find("auto_delete.mode")).toMatchObject({
      default: "none",
      choices: [{ value: "none", title: "Nothing" }, { value: "single" }, { value: "all" }],
    });
    for (const { path, default: value } of items) {
      const [group = "", field = ""] = String(path).split(".");
      expect((await admin("PUT", "/admin/settings", { [group]: { [field]: value } })).status, path).toBe(200);
    }
  });
});

describe("PUT /admin/settings", () => {
  it("changes the sent fields, keeps the others, and answers the updated settings", async () => {
    const { status, body } = await admin("PUT", "/admin/settings", {
      admin: { jwt_expire_hours: 1 },
      runtime: { account_max_queue: 3 },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      admin: { jwt_expire_hours: 1 },
      runtime: { ...DEFAULTS.runtime, account_max_queue: 3 },
    });
    const login = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    expect(login.body["expires_in"]).toBe(3_600);
  });

  it("accepts the answer of GET", async () => {
    const { body } = await admin("GET", "/admin/settings");
    expect((await admin("PUT", "/admin/settings", body)).status).toBe(200);
    expect((await admin("GET", "/admin/settings")).body).toEqual(body);
  });

  it.each([
    [true, "all"],
    [false, "none"],
  ])("accepts the legacy auto_delete.sessions=%j as %s", async (legacy, mode) => {
    await change({ auto_delete: { sessions: legacy } });
    expect((await admin("GET", "/admin/settings")).body["auto_delete"]).toEqual({ mode });
  });

  it.each([
    [{ runtime: { account_max_inflight: 0 } }, "runtime.account_max_inflight"],
    [{ runtime: { account_max_inflight: 1.5 } }, "runtime.account_max_inflight"],
    [{ runtime: { account_max_queue: -1 } }, "runtime.account_max_queue"],
    [{ runtime: { global_max_inflight: "7" } }, "runtime.global_max_inflight"],
    [{ runtime: { token_refresh_interval_hours: -1 } }, "runtime.token_refresh_interval_hours"],
    [{ responses: { store_ttl_seconds: 0 } }, "responses.store_ttl_seconds"],
    [{ embeddings: { provider: 1 } }, "embeddings.provider"],
    [{ auto_delete: { mode: "some" } }, "auto_delete.mode"],
    [{ current_input_file: { min_chars: -5 } }, "current_input_file.min_chars"],
    [{ current_input_file: { enabled: "yes" } }, "current_input_file.enabled"],
    [{ thinking_injection: { prompt: 5 } }, "thinking_injection.prompt"],
    [{ model_aliases: { a: "nothing" } }, "model_aliases.a"],
    [{ admin: { jwt_expire_hours: 0 } }, "admin.jwt_expire_hours"],
    [{ runtime: { account_max_infligth: 3 } }, "account_max_infligth"],
  ])("refuses %j, names the field, and changes nothing", async (wrong, field) => {
    const before = await admin("GET", "/admin/settings");
    const answer = await admin("PUT", "/admin/settings", { responses: { store_ttl_seconds: 5 }, ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(field);
    expect(await admin("GET", "/admin/settings")).toEqual(before);
  });
});

describe("the setting", () => {
  it.each([
    ["none", 3],
    ["single", 2],
    ["all", 0],
  ])("auto_delete %s leaves %i of three sessions", async (mode, left) => {
    await (await chat("one", {}, ONE)).text();
    await (await chat("two", {}, ONE)).text();
    await change({ auto_delete: { mode } });
    await (await chat("three", { stream: true }, ONE)).text();
    await expect.poll(sessions, { timeout: 5_000 }).toBe(left);
  });

  it("current_input_file uploads prompts of at least min_chars, and none if it is disabled", async () => {
    const long = `tell me ${"x".repeat(500)}`;
    await (await chat(long)).text();
    expect((await running.gateway.sandbox.lastTurn()).file_ids).toEqual([]);
    await change({ current_input_file: { min_chars: 400 } });
    await (await chat("short")).text();
    expect((await running.gateway.sandbox.lastTurn()).file_ids).toEqual([]);
    await (await chat(long)).text();
    expect((await running.gateway.sandbox.lastTurn()).file_ids).toHaveLength(1);
    await change({ current_input_file: { enabled: false } });
    await (await chat(long)).text();
    expect((await running.gateway.sandbox.lastTurn()).file_ids).toEqual([]);
  });

  it("thinking_injection appends its text, or the default one, only while thinking is on", async () => {
    const prompt = async (extra = {}) => {
      await (await chat("think", extra)).text();
      return (await running.gateway.sandbox.lastTurn()).prompt;
    };
    expect(await prompt()).toContain(DEFAULT_THINKING_PROMPT);
    await change({ thinking_injection: { prompt: "Mind the gap." } });
    expect(await prompt()).toContain("Mind the gap.");
    expect(await prompt()).not.toContain(DEFAULT_THINKING_PROMPT);
    expect(await prompt({ model: "provider-v4-flash-nothinking" })).not.toContain("Mind the gap.");
    await change({ thinking_injection: { enabled: false } });
    expect(await prompt()).not.toContain("Mind the gap.");
  });

  it("token_refresh_interval_hours signs accounts in again once their token is that old, and never if it is 0", async () => {
    const signIns = async () => (await running.gateway.sandbox.state()).sign_ins["one@sandbox.test"] ?? 0;
    await (await chat("first", {}, ONE)).text();
    const before = await signIns();
    await (await chat("again", {}, ONE)).text();
    expect(await signIns()).toBe(before);
    await change({ runtime: { token_refresh_interval_hours: 0.2 / 3600 } });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await (await chat("later", {}, ONE)).text();
    expect(await signIns()).toBe(before + 1);
    await change({ runtime: { token_refresh_interval_hours: 0 } });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await (await chat("never", {}, ONE)).text();
    expect(await signIns()).toBe(before + 1);
  });

  // Deno has a timer of its own for this, which a test of its own shows.
  it.skipIf(ON_DENO)(
    "token_refresh_interval_hours also applies to idle accounts, which a schedule checks",
    async () => {
      const signIns = async () => (await running.gateway.sandbox.state()).sign_ins["one@sandbox.test"] ?? 0;
      const worker = await running.gateway.miniflare.getWorker("polygate");
      const tick = () => worker.scheduled({ cron: "*/5 * * * *" });
      await running.gateway.sandbox.expireTokens();
      await (await chat("first", {}, ONE)).text();
      const before = await signIns();
      await tick();
      expect(await signIns()).toBe(before);
      await change({ runtime: { token_refresh_interval_hours: 0.2 / 3600 } });
      await new Promise((resolve) => setTimeout(resolve, 300));
      await tick();
      expect(await signIns()).toBe(before + 1);
    },
  );

  it("model_aliases applies from the next request", async () => {
    expect((await chat("hi", { model: "my-own-name" })).status).toBe(400);
    await change({ model_aliases: { "my-own-name": "provider-v4-pro-search" } });
    expect((await chat("hi", { model: "my-own-name" })).status).toBe(200);
    const turn = await running.gateway.sandbox.lastTurn();
    expect([turn.model, turn.search]).toEqual(["pro", true]);
  });

  it("store_ttl_seconds limits how long a response can be read", async () => {
    await change({ responses: { store_ttl_seconds: 3 } });
    const created = await running.post("/v1/responses", { model: "provider-v4-flash", input: "hi" });
    const { id } = Object(await created.json());
    const read = () => running.fetch(`/v1/responses/${id}`, { headers: { authorization: "Bearer sk-dev" } });
    expect((await read()).status).toBe(200);
    await expect.poll(async () => (await read()).status, { interval: 250 }).toBe(404);
  });

  it("embeddings.provider enables embeddings", async () => {
    const embed = () => running.post("/v1/embeddings", { model: "provider-v4-flash", input: "hi" });
    expect((await embed()).status).toBe(501);
    await change({ embeddings: { provider: "deterministic" } });
    expect((await embed()).status).toBe(200);
  });

  it("account_max_inflight applies at once, like account_max_queue", async () => {
    await change({ runtime: { account_max_inflight: 1, global_max_inflight: 1, account_max_queue: 1 } });
    const { body } = await admin("GET", "/admin/queue/status");
    expect(body).toMatchObject({
      max_inflight_per_account: 1,
      global_max_inflight: 1,
      max_queue_size: 1,
      recommended_concurrency: 3,
    });
    const answers = await Promise.all([1, 2, 3].map(() => chat("[[stall:400]]")));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    await Promise.all(answers.map((answer) => answer.text()));
  });
});

describe("POST /admin/settings/password", () => {
  it.each([
    [{}, "new_password"],
    [{ new_password: "abc" }, "new_password"],
    [{ new_password: "      " }, "new_password"],
    [{ new_password: 123456 }, "new_password"],
  ])("refuses %j", async (body, field) => {
    const answer = await admin("POST", "/admin/settings/password", body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(field);
  });

  it("ends older tokens, also those of the same second, and the development key, and accepts the password for sign-in", async () => {
    const before = await admin("POST", "/admin/login", { admin_key: "admin" }, null);
    const changed = await admin("POST", "/admin/settings/password", { new_password: "a new password" });
    expect(changed).toMatchObject({ status: 200, body: { success: true } });

    const old = await admin("GET", "/admin/verify", undefined, String(before.body["token"]));
    expect(old.status).toBe(401);
    expect((await admin("GET", "/admin/settings", undefined, "admin")).status).toBe(401);

    const after = await admin("POST", "/admin/login", { admin_key: "a new password" }, null);
    const token = String(after.body["token"]);
    expect((await admin("GET", "/admin/verify", undefined, token)).body).toMatchObject({ valid: true });
    const { body } = await admin("GET", "/admin/settings", undefined, "a new password");
    expect(body["admin"]).toMatchObject({
      has_password_hash: true,
      default_password_warning: false,
      jwt_valid_after_unix: expect.any(Number),
    });
    const exported = await admin("GET", "/admin/export", undefined, token);
    expect(String(exported.body["json"])).toMatch(/"password_hash":"pbkdf2-sha256\$100000\$/);
    expect(String(exported.body["json"])).not.toContain("a new password");

    const weak = await admin("POST", "/admin/settings/password", { new_password: "admin" }, token);
    expect(weak.body).toMatchObject({ success: true, warning: expect.stringContaining("everybody") });
    const warned = await admin("GET", "/admin/settings");
    expect(warned.body["admin"]).toMatchObject({ default_password_warning: true });

    await admin("POST", "/admin/settings/password", { password: "the other field" });
    expect((await admin("GET", "/admin/settings", undefined, "the other field")).status).toBe(200);
    expect((await admin("GET", "/admin/settings", undefined, token)).status).toBe(401);
    await running.gateway.reset();
  });
});

describe("a deployment's own admin key", () => {
  const own = useAdmin({ vars: { ADMIN_KEY: "the-deployments-own-secret" } });

  it("keeps working beside a password, so that administrators cannot lock themselves out", async () => {
    const key = "the-deployments-own-secret";
    const settings = await own.admin("GET", "/admin/settings", undefined, key);
    expect(settings.body["admin"]).toMatchObject({ default_password_warning: false });
    await own.admin("POST", "/admin/settings/password", { new_password: "forgotten" }, key);
    expect((await own.admin("POST", "/admin/login", { admin_key: key }, null)).status).toBe(200);
    expect((await own.admin("POST", "/admin/login", { admin_key: "admin" }, null)).status).toBe(401);
  });
});
