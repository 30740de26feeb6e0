import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startChatBackend } from "../support/chat-backend.ts";
import { ON_DENO } from "../support/runtime.ts";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

const TOKEN = "sk-of-the-backend-0123456789";

const running = useAdmin();
const { admin, chat, fetch } = running;
const backend = await startChatBackend({ models: ["qwen3:8b", "llama3:70b"], says: "From the backend." });
afterAll(() => backend.close());

// A second try of a test finds the data of the first one.
beforeEach(async () => {
  await admin("PUT", "/admin/settings", { model_routes: {} });
  const { body: pool } = await admin("GET", "/admin/accounts?page_size=1000");
  for (const { identifier, provider } of Object(pool["items"])) {
    if (provider) await admin("DELETE", `/admin/accounts/${encodeURIComponent(identifier)}`);
  }
  const { body: present } = await admin("GET", "/admin/providers");
  for (const { id } of Object(present["items"])) {
    if (id !== "default") await admin("DELETE", `/admin/providers/${id}`);
  }
});

/** The text of a chat completion, and the model that it names. */
async function answer(model: string, extra: object = {}) {
  const response = await chat("hi", { model, ...extra });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const { choices, model: named } = JSON.parse(text);
  return { text: choices[0].message.content, model: named };
}

it("has its streams piped only if an administrator enables it, also after a restored backup", async () => {
  const provider = { driver: "openai", base_url: backend.url };
  const isPiped = async (id: string) => (await admin("GET", `/admin/providers/${id}`)).body["pipe_streams"];
  expect((await admin("POST", "/admin/providers", { ...provider, id: "plain" })).status).toBe(200);
  expect(await isPiped("plain")).toBe(false);
  expect(await isPiped("default")).toBe(false);
  await admin("PUT", "/admin/providers/plain", { pipe_streams: true });
  await admin("PUT", "/admin/providers/plain", { name: "Plain" });
  expect(await isPiped("plain")).toBe(true);
  expect((await admin("PUT", "/admin/providers/plain", { pipe_streams: "yes" })).status).toBe(400);
  const imported = { ...provider, id: "imported", pipe_streams: true };
  await admin("POST", "/admin/config/import?mode=merge", { providers: [imported] });
  expect(await isPiped("imported")).toBe(true);
});

it("is probed when it fails, unless it needs a sign-in or an administrator forbids it", async () => {
  const isProbed = async (id: string) => (await admin("GET", `/admin/providers/${id}`)).body["active_probes"];
  await admin("POST", "/admin/providers", { driver: "openai", base_url: backend.url, id: "probed" });
  expect([await isProbed("probed"), await isProbed("default")]).toEqual([true, false]);
  await admin("PUT", "/admin/providers/probed", { active_probes: false });
  expect(await isProbed("probed")).toBe(false);
  expect((await admin("PUT", "/admin/providers/probed", { active_probes: 1 })).status).toBe(400);
});

describe("the limit of a provider's accounts", () => {
  it("is off for a new provider, unless it names one or signs in, and can be set again", async () => {
    const base = { driver: "openai", base_url: backend.url };
    const limitOf = async (provider: object) => {
      const { status, body } = await admin("POST", "/admin/providers", { ...base, ...provider });
      return status === 200 ? body["max_concurrent"] : [status, body["detail"]];
    };
    expect(await limitOf({ id: "free" })).toBe(0);
    expect(await limitOf({ id: "slots", account_max_inflight: 3 })).toBeNull();
    expect(await limitOf({ id: "asked", max_concurrent: null })).toBeNull();
    expect(await limitOf({ id: "sign-in", driver: "sessions" })).toBeNull();
    expect(await limitOf({ id: "odd", max_concurrent: 5 })).toEqual([
      400,
      expect.stringMatching(/max_concurrent.*account_max_inflight/),
    ]);
    const change = async (fields: object) =>
      (await admin("PUT", "/admin/providers/free", fields)).body["max_concurrent"];
    expect(await change({ name: "Free" })).toBe(0);
    expect(await change({ max_concurrent: null })).toBeNull();
    expect(await change({ name: "Limited" })).toBeNull();
    expect(await change({ max_concurrent: 0 })).toBe(0);
  });

  it("is unchanged by the import of a configuration", async () => {
    const provider = { id: "imported", driver: "openai", base_url: backend.url };
    const { status } = await admin("POST", "/admin/config/import?mode=merge", { providers: [provider] });
    expect(status).toBe(200);
    const { body } = await admin("GET", "/admin/providers/imported");
    expect(body["max_concurrent"]).toBeNull();
  });
});

describe("the need of a provider for accounts", () => {
  it("is in its entry: only a provider whose accounts sign in needs one", async () => {
    for (const driver of ["openai", "anthropic", "gemini", "openai-responses", "sessions"])
      for (const token of ["", TOKEN]) {
        const provider = { id: `of-${driver}-${token.length}`, driver, base_url: backend.url, token };
        const { body } = await admin("POST", "/admin/providers", provider);
        expect(body, provider.id).toMatchObject({ accounts: 0, needs_account: driver === "sessions" });
      }
    expect((await admin("GET", "/admin/providers/default")).body).toMatchObject({ needs_account: true });
  });
});

describe("providers beside the default one", () => {
  it("are added, used at once, changed and deleted, and never show their secrets", async () => {
    const provider = {
      id: "local",
      driver: "openai",
      base_url: `${backend.url}/`,
      token: TOKEN,
      models: { small: "qwen3:8b" },
      headers: { "x-team": "a-secret-of-the-team" },
    };
    const misspelt = await admin("POST", "/admin/providers", { ...provider, further: "kept" });
    expect(misspelt).toMatchObject({ status: 400, body: { detail: expect.stringContaining("further") } });
    const added = await admin("POST", "/admin/providers", provider);
    const view = {
      id: "local",
      base_url: backend.url,
      has_token: true,
      token_preview: "sk-o****6789",
      headers: { "x-team": "a-se****team" },
      enabled: true,
      accounts: 0,
      read_only: false,
    };
    expect(added).toMatchObject({ status: 200, body: view });
    expect((await admin("POST", "/admin/providers", { ...provider, id: "LOCAL" })).status).toBe(409);

    expect(await answer("local/small")).toMatchObject({ text: "From the backend." });
    expect(backend.asked.at(-1)).toMatchObject({
      model: "qwen3:8b",
      key: TOKEN,
      headers: { "x-team": "a-secret-of-the-team" },
    });
    expect((await answer("provider-v4-flash")).text).not.toBe("From the backend.");

    const { body: listed } = await admin("GET", "/admin/providers");
    expect(listed).toMatchObject({ total: 2, items: [{ id: "default", read_only: true }, view] });
    const told = JSON.stringify([
      listed,
      (await admin("GET", "/admin/config")).body["providers"],
      (await admin("GET", "/admin/audit?q=local")).body,
    ]);
    expect(told).toContain("providers");
    for (const secret of [TOKEN, "a-secret-of-the-team"]) expect(told).not.toContain(secret);

    // An import keeps fields that only another version knows.
    const imported = { providers: [{ ...provider, further: "kept" }] };
    expect((await admin("POST", "/admin/config/import", imported)).status).toBe(200);

    // What came from the masked view may be sent back.
    const sent = { headers: view.headers, token: "", name: "Local" };
    expect((await admin("PUT", "/admin/providers/local", sent)).body).toMatchObject({
      ...view,
      name: "Local",
    });
    const { config } = Object((await admin("GET", "/admin/config/export")).body);
    const whole = { ...provider, further: "kept", base_url: backend.url, name: "Local" };
    expect(config.providers).toMatchObject([whole]);

    const offered = await admin("GET", "/admin/providers/local/models");
    expect(offered.body).toEqual({ driver: "openai", models: ["qwen3:8b", "llama3:70b"], details: {} });
    expect((await admin("POST", "/admin/providers/local/models")).body).toMatchObject({
      models: { small: "qwen3:8b", "llama3:70b": "llama3:70b" },
    });
    for (const [path, list, name] of [
      ["/v1/models", "data", "id"],
      ["/v1beta/models", "models", "baseModelId"],
      ["/api/tags", "models", "model"],
    ] as const) {
      const models = Object(await (await fetch(path)).json())[list];
      const names = models.map((model: Record<string, unknown>) => model[name]);
      expect(names.slice(9)).toEqual([expect.any(String), "local/small", "local/llama3:70b"]);
    }

    await admin("PUT", "/admin/providers/local", { enabled: false });
    expect((await chat("hi", { model: "local/small" })).status).toBe(400);
    expect((await admin("DELETE", "/admin/providers/local")).body).toEqual({
      success: true,
      total_providers: 0,
    });
    expect((await admin("DELETE", "/admin/providers/default")).status).toBe(409);
  });

  it("have the prices, sizes and abilities that their own lists state", async () => {
    const models = ["paid", "free", "bare"];
    const stated = {
      paid: {
        context_length: 131_072,
        architecture: { input_modalities: ["text", "image"] },
        pricing: { prompt: "0.00000015", completion: "0.0000006" },
        top_provider: { max_completion_tokens: 16_384 },
        supported_parameters: ["reasoning", "tools"],
      },
      free: { max_model_len: 32_768, pricing: { prompt: "0", completion: "0" } },
    };
    const vendor = await startChatBackend({ models, stated, says: "From the vendor." });
    try {
      await admin("POST", "/admin/providers", { id: "vendor", driver: "openai", base_url: vendor.url });
      const path = "/admin/providers/vendor/models";
      const paid = {
        context: 131_072,
        output: 16_384,
        vision: true,
        thinking: true,
        price: { input: 0.15, output: 0.6 },
      };
      const free = { context: 32_768, price: { input: 0, output: 0 } };
      const { body: offered } = await admin("GET", path);
      expect(offered).toEqual({ driver: "openai", models, details: { paid, free } });

      // An edit wins over the list, before it is fetched again and after.
      await admin("PUT", `${path}/free`, { context: 8_192 });
      const added = await admin("POST", path, { models: ["paid", "free"], details: offered["details"] });
      const listed = { free: { upstream: "free", context: 8_192 }, paid: { upstream: "paid", ...paid } };
      expect(added.body["models"]).toEqual(listed);
      expect((await admin("POST", path)).body["models"]).toEqual({ ...listed, bare: "bare" });
      const answered = await chat("hi", { model: "vendor/paid" });
      expect(Number(answered.headers.get("x-gateway-cost"))).toBeGreaterThan(0);

      const misspelt = { models: ["new"], details: { new: { contxt: 1 } } };
      expect((await admin("POST", path, misspelt)).status).toBe(400);
    } finally {
      await vendor.close();
    }
  });

  it("have models that are edited by hand, switched on and off, and listed with names of routes", async () => {
    const small = { upstream: "qwen3:8b", vision: false, context: 32_768, price: { input: 1, output: 2 } };
    await admin("POST", "/admin/providers", {
      id: "edited",
      driver: "openai",
      base_url: backend.url,
      models: { small },
    });
    await admin("PUT", "/admin/settings", { model_routes: { best: ["edited/small"] } });
    const path = "/admin/providers/edited/models";
    const added = await admin("POST", path, { enabled: false });
    const llama = { upstream: "llama3:70b", enabled: false };
    expect(added.body).toMatchObject({ models: { small, "llama3:70b": llama } });
    expect((await chat("hi", { model: "edited/llama3:70b" })).status).toBe(400);
    expect((await admin("PUT", path, { models: ["nothing"], enabled: true })).status).toBe(404);

    const lists = [
      ["/v1/models", "data", "id"],
      ["/vendorb/v1/models", "data", "id"],
      ["/v1beta/models", "models", "displayName"],
      ["/api/tags", "models", "model"],
      ["/api/ps", "models", "model"],
    ] as const;
    const listed = (names: readonly string[]) =>
      Promise.all(
        lists.map(async ([list, member, name]) => {
          const models = Object(await (await fetch(list)).json())[member];
          const further = models.map((model: Record<string, string>) => model[name]).slice(-names.length);
          expect([list, further]).toEqual([list, names]);
        }),
      );
    await listed(["edited/small", "best"]);
    const shown = await fetch("/api/show", { method: "POST", body: JSON.stringify({ model: "best" }) });
    expect(Object(await shown.json()).model_info["provider.context_length"]).toBe(32_768);

    const on = await admin("PUT", path, { enabled: true });
    expect(on.body).toMatchObject({ models: { small, "llama3:70b": "llama3:70b" } });
    await listed(["edited/small", "edited/llama3:70b", "best"]);
    expect((await answer("edited/llama3:70b")).text).toBe("From the backend.");
    const off = await admin("PUT", path, { models: ["small"], enabled: false });
    expect(off.body).toMatchObject({ models: { small: { ...small, enabled: false } } });
    expect((await chat("hi", { model: "best" })).status).toBe(400);

    // One at a time: what is left out stays, and null takes away.
    const one = await admin("PUT", `${path}/small`, { enabled: true, vision: null, output: 512 });
    const { vision: _vision, ...others } = small;
    expect(Object(one.body["models"]).small).toEqual({ ...others, output: 512 });
    const name = encodeURIComponent("org/another");
    expect((await admin("PUT", `${path}/${name}`, { context: 0 })).status).toBe(400);
    const named = await admin("PUT", `${path}/${name}`, { upstream: "llama3:70b" });
    expect(named.body).toMatchObject({ models: { small: others, "org/another": "llama3:70b" } });
    expect((await answer("edited/org/another")).text).toBe("From the backend.");
    const removed = await admin("DELETE", `${path}/${name}`);
    expect(Object.keys(Object(removed.body["models"]))).toEqual(["small", "llama3:70b"]);
    expect((await admin("DELETE", `${path}/${name}`)).status).toBe(404);
  });

  // Deno has a timer of its own for this, which a test of its own shows.
  it.skipIf(ON_DENO)("are asked for their models on schedule, if configured", async () => {
    const scheduled = { driver: "openai", base_url: backend.url, token: TOKEN, models_refresh_hours: 24 };
    const added = await admin("POST", "/admin/providers", {
      id: "scheduled",
      ...scheduled,
      new_models: "off",
    });
    expect(added.body).toMatchObject({ models_refresh_hours: 24, new_models: "off", models: {} });
    const worker = await running.gateway.miniflare.getWorker("polygate");
    await worker.scheduled({ cron: "*/5 * * * *" });
    const { body } = await admin("GET", "/admin/providers");
    const of = (name: string) => ({ [name]: { upstream: name, enabled: false } });
    expect(Object(body["items"])[1]).toMatchObject({
      models: { ...of("qwen3:8b"), ...of("llama3:70b") },
      models_asked: { at: expect.any(Number), error: "", added: 2 },
    });
  });

  it.each([
    ["models", { models: { small: { context: -1 } } }],
    ["id", { id: "a/b" }],
    ["id", { id: "Default" }],
    ["driver", { driver: "telepathy" }],
    ["base_url", { base_url: "http://user:password@backend.test" }],
    ["headers", { headers: { "content-length": "1" } }],
    ["proxy_id", { proxy_id: "nowhere" }],
    ["first_byte_timeout_ms", { first_byte_timeout_ms: -1 }],
  ])("are refused with a wrong %s", async (field, wrong) => {
    const provider = { id: "other", driver: "openai", base_url: backend.url, ...wrong };
    const { status, body } = await admin("POST", "/admin/providers", provider);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });

  it("have accounts of their own, which are tested with them and keep them from being deleted", async () => {
    await admin("POST", "/admin/providers", { id: "pooled", driver: "openai", base_url: backend.url });
    const account = { email: "", token: "sk-account-0123456789", provider: "pooled" };
    expect((await admin("POST", "/admin/accounts", { ...account, provider: "nobody" })).status).toBe(400);
    expect((await admin("POST", "/admin/accounts", account)).status).toBe(200);
    expect((await answer("pooled/llama3:70b")).text).toBe("From the backend.");
    expect(backend.asked.at(-1)?.key).toBe(account.token);
    const { body } = await admin("GET", "/admin/accounts?page_size=100");
    const { identifier } = Object(body["items"]).find((item: typeof account) => item.provider === "pooled");
    const tested = await admin("POST", "/admin/accounts/test", {
      identifier,
      message: "hi",
      model: "qwen3:8b",
    });
    expect(tested.body).toMatchObject({ success: true, message: "From the backend." });
    expect((await admin("DELETE", "/admin/providers/pooled")).status).toBe(409);
    await admin("DELETE", `/admin/accounts/${encodeURIComponent(identifier)}`);
    expect((await admin("DELETE", "/admin/providers/pooled")).status).toBe(200);
  });

  it("send the token that is configured now, also for accounts without one of their own", async () => {
    const old = "sk-old-0123456789";
    const next = "sk-new-0123456789";
    await admin("POST", "/admin/providers", {
      ...{ id: "shared", driver: "openai", base_url: backend.url, token: old, account_max_inflight: 1 },
    });
    await admin("POST", "/admin/accounts", { email: "one@shared.test", password: "x", provider: "shared" });
    await answer("shared/qwen3:8b");
    expect(backend.asked.at(-1)?.key).toBe(old);
    await admin("PUT", "/admin/providers/shared", { token: next });
    await answer("shared/qwen3:8b");
    expect(backend.asked.at(-1)?.key).toBe(next);
  });

  it("are asked one after another if a name leads to several: the first is dead, the second lacks the model", async () => {
    const without = await startChatBackend({ models: ["another"], says: "Never." });
    const gone = await startChatBackend({ models: [], says: "Never." });
    await gone.close();
    const urls = { dead: gone.url, without: without.url, well: backend.url };
    for (const [id, base_url] of Object.entries(urls)) {
      expect((await admin("POST", "/admin/providers", { id, driver: "openai", base_url })).status).toBe(200);
    }
    const model_routes = { best: ["dead/qwen3:8b", "without/qwen3:8b", { model: "well/qwen3:8b" }] };
    expect((await admin("PUT", "/admin/settings", { model_routes: { best: ["nobody/x"] } })).status).toBe(
      400,
    );
    expect((await admin("PUT", "/admin/settings", { model_routes })).body).toMatchObject({ model_routes });
    for (const stream of [false, true]) {
      const response = await chat("hi", { model: "best", stream });
      expect(await response.text()).toContain("From the backend.");
      expect(response.headers.get("x-gateway-provider")).toBe("well");
    }
    const record = async () => {
      const { body } = await admin("GET", "/admin/chat-history?model=well/qwen3:8b");
      const [, first] = Object(body["items"]);
      return first;
    };
    const kept = await until(record, (found) => found?.status === "success");
    expect(kept).toMatchObject({
      requested_model: "best",
      provider: "well",
      tried: [
        { provider: "dead", reason: "unreachable" },
        { provider: "without", reason: "model_unavailable" },
      ],
    });
    await without.close();
  });
});
