import { beforeEach, describe, expect, it } from "vitest";
import { serve } from "../support/local-server.ts";
import { useAdmin } from "../support/use-admin.ts";

const running = useAdmin();
const { admin, chat } = running;

interface Item {
  readonly identifier: string;
  readonly [field: string]: unknown;
}

async function list(query = ""): Promise<{ items: Item[]; total: number; [field: string]: unknown }> {
  return Object((await admin("GET", `/admin/accounts${query}`)).body);
}

const THREE = ["one", "two", "three"].map((name) => ({
  email: `${name}@sandbox.test`,
  password: "sandbox",
}));

beforeEach(async () => {
  await admin("POST", "/admin/config", { accounts: THREE });
});

describe("accounts", () => {
  it("are added by e-mail, mobile or token, and listed without secrets", async () => {
    await admin("POST", "/admin/accounts", { email: "a@sandbox.test", password: "sandbox", name: "A" });
    await admin("POST", "/admin/accounts", { mobile: "+8613800000000", password: "sandbox" });
    const answer = await admin("POST", "/admin/accounts", { token: "sandbox-token-abcdefgh" });
    expect(answer).toMatchObject({ status: 200, body: { success: true, total_accounts: 6 } });
    expect(Object(answer.body).identifier).toMatch(/^token:/);
    const { items } = await list();
    expect(items[3]).toEqual({
      identifier: "a@sandbox.test",
      auth: { type: "password" },
      email: "a@sandbox.test",
      mobile: "",
      has_password: true,
      has_token: false,
      token_preview: "",
      test_status: "",
      name: "A",
      remark: "",
      proxy_id: "",
      disabled: false,
      weight: 1,
      condition: "untested",
      provider: "",
      cooldown: null,
      quotas: [],
      activity: {
        in_flight: 0,
        last_used: 0,
        last_success: 0,
        last_fault: null,
        last_hour: { requests: 0, succeeded: 0 },
        last_day: { requests: 0, succeeded: 0 },
      },
    });
    expect(items[4]).toMatchObject({ identifier: "+8613800000000", mobile: "+8613800000000" });
    expect(items[5]).toMatchObject({
      identifier: expect.stringMatching(/^token:[0-9a-f]{16}$/),
      has_password: false,
      has_token: true,
      token_preview: "sand****efgh",
    });
  });

  it.each([
    "plain@sandbox.test",
    "plus+tag@sandbox.test",
    "per%cent@sandbox.test",
    "per%25cent@sandbox.test",
    "a/b?c#d@sandbox.test",
    "+8613800000000",
  ])("are renamed, bound and deleted as %s in the path", async (identifier) => {
    const field = identifier.includes("@") ? "email" : "mobile";
    await admin("POST", "/admin/accounts", { [field]: identifier, password: "sandbox" });
    await admin("POST", "/admin/proxies", { id: "p", type: "http", host: "h", port: 1 });
    const path = `/admin/accounts/${encodeURIComponent(identifier)}`;
    expect((await admin("PUT", path, { name: "N", remark: "R" })).body).toEqual({
      success: true,
      total_accounts: 4,
    });
    expect((await admin("PUT", `${path}/proxy`, { proxy_id: "p" })).body).toMatchObject({
      success: true,
      proxy_id: "p",
    });
    expect((await list()).items[3]).toMatchObject({ identifier, name: "N", remark: "R", proxy_id: "p" });
    expect((await admin("GET", "/admin/account-names")).body).toEqual({
      names: { [String(identifier)]: "N" },
    });
    await admin("PUT", `${path}/proxy`, { proxy_id: "" });
    expect((await list()).items[3]).toMatchObject({ proxy_id: "", name: "N" });
    expect((await admin("DELETE", path)).body).toEqual({ success: true, total_accounts: 3 });
    await admin("DELETE", "/admin/proxies/p");
  });

  it("are deleted by token:<hash>, raw or escaped", async () => {
    for (const write of [String, encodeURIComponent]) {
      await admin("POST", "/admin/accounts", { token: "sandbox-token-gone" });
      const { identifier } = (await list()).items[3] ?? { identifier: "" };
      expect((await admin("DELETE", `/admin/accounts/${write(identifier)}`)).status).toBe(200);
    }
    expect((await list()).total).toBe(3);
  });

  it("take a new password, and keep the old one for an empty one", async () => {
    await admin("PUT", "/admin/accounts/one@sandbox.test", { password: "other" });
    await admin("PUT", "/admin/accounts/one@sandbox.test", { password: "" });
    const { config } = Object((await admin("GET", "/admin/config/export")).body);
    expect(config.accounts[0].password).toBe("other");
  });

  it.each([
    ["POST", "/admin/accounts", {}, 400, "email"],
    ["POST", "/admin/accounts", { email: "x@sandbox.test" }, 400, "password"],
    ["POST", "/admin/accounts", { email: "x@sandbox.test", password: 7 }, 400, "password"],
    ["POST", "/admin/accounts", { email: "ONE@sandbox.test", password: "x" }, 409, "exists already"],
    ["POST", "/admin/accounts", { email: "x@y.z", password: "x", proxy_id: "no" }, 400, "proxy_id"],
    ["PUT", "/admin/accounts/nobody@sandbox.test", { name: "x" }, 404, "does not exist"],
    ["PUT", "/admin/accounts/one@sandbox.test", { email: "z@sandbox.test" }, 400, "email"],
    ["PUT", "/admin/accounts/one@sandbox.test", { name: 1 }, 400, "name"],
    ["PUT", "/admin/accounts/one@sandbox.test/proxy", { proxy_id: "no" }, 400, "proxy_id"],
    ["PUT", "/admin/accounts/one@sandbox.test/proxy", {}, 400, "proxy_id"],
    ["DELETE", "/admin/accounts/token:0000000000000000", undefined, 404, "does not exist"],
  ] as const)("%s %s %j is a %i", async (method, path, body, status, reason) => {
    const answer = await admin(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.body["detail"]).toContain(reason);
    expect((await list()).total).toBe(3);
  });

  it("come in pages of 10, with bounds, and filtered by identifier, e-mail or mobile", async () => {
    const many = Array.from({ length: 22 }, (_, index) => ({
      email: `n${index}@sandbox.test`,
      mobile: index === 5 ? "5551234" : "",
      password: "sandbox",
    }));
    await admin("POST", "/admin/config", { accounts: many });
    expect(await list()).toMatchObject({ total: 22, page: 1, page_size: 10, total_pages: 3 });
    expect((await list("?page=3")).items.map(({ identifier }) => identifier)).toEqual([
      "n20@sandbox.test",
      "n21@sandbox.test",
    ]);
    expect(await list("?page=9")).toMatchObject({ items: [], total: 22, page: 9 });
    expect(await list("?page=&page_size=")).toMatchObject({ page: 1, page_size: 10 });
    expect(await list("?page=0&page_size=0")).toMatchObject({ page: 1, page_size: 1 });
    expect(await list("?page=x&page_size=99999")).toMatchObject({ page: 1, page_size: 5000 });
    expect((await list("?q=N2")).items.map(({ identifier }) => identifier)).toEqual([
      "n2@sandbox.test",
      "n20@sandbox.test",
      "n21@sandbox.test",
    ]);
    expect((await list("?q=5551")).items).toMatchObject([{ identifier: "n5@sandbox.test" }]);
    expect(await list("?q=nobody")).toMatchObject({ items: [], total: 0, total_pages: 0 });
  });
});

describe("POST /admin/accounts/test", () => {
  it("creates and deletes a session, and stores the outcome", async () => {
    await running.gateway.sandbox.reset();
    const { status, body } = await admin("POST", "/admin/accounts/test", { identifier: "one@sandbox.test" });
    expect(status).toBe(200);
    expect(body).toEqual({
      account: "one@sandbox.test",
      success: true,
      response_time: expect.any(Number),
      message: expect.any(String),
      model: "provider-v4-flash",
      session_count: 0,
      config_writable: true,
      config_warning: "",
    });
    expect((await running.gateway.sandbox.state()).sessions).toEqual({});
    expect((await list()).items[0]).toMatchObject({ test_status: "ok", has_token: true });
  });

  it("sends a message if there is one, and shows the reasoning", async () => {
    const { body } = await admin("POST", "/admin/accounts/test", {
      identifier: "two@sandbox.test",
      model: "provider-v4-pro",
      message: "[[say:pong]][[think:hm]]",
    });
    expect(body).toMatchObject({
      success: true,
      message: "pong",
      thinking: "hm",
      model: "provider-v4-pro",
      session_count: 0,
    });
    expect((await running.gateway.sandbox.lastTurn()).account).toBe("two@sandbox.test");
  });

  it("shows why an account fails and its cooldown, and ends the cooldown when the account works again", async () => {
    await admin("PUT", "/admin/accounts/three@sandbox.test", { password: "wrong" });
    const failed = await admin("POST", "/admin/accounts/test", { identifier: "three@sandbox.test" });
    expect(failed.status).toBe(200);
    expect(failed.body).toMatchObject({
      success: false,
      message: expect.stringMatching(/password|credentials/i),
    });
    expect((await list()).items[2]).toMatchObject({
      test_status: "failed",
      cooldown: { kind: "invalid_credentials" },
    });
    await admin("PUT", "/admin/accounts/three@sandbox.test", { password: "sandbox" });
    const worked = await admin("POST", "/admin/accounts/test", { identifier: "three@sandbox.test" });
    expect(worked.body).toMatchObject({ success: true });
    expect((await list()).items[2]).toMatchObject({ test_status: "ok", cooldown: null });
  });

  it("replaces a token that the provider refuses", async () => {
    await admin("POST", "/admin/accounts/test", { identifier: "one@sandbox.test" });
    await running.gateway.sandbox.expireTokens();
    const { body } = await admin("POST", "/admin/accounts/test", { identifier: "one@sandbox.test" });
    expect(body).toMatchObject({ success: true });
  });

  it.each([
    [{}, 400, "identifier"],
    [{ identifier: "nobody" }, 404, "does not exist"],
    [{ identifier: "one@sandbox.test", model: "nothing" }, 400, "does not exist"],
  ])("refuses %j with %i", async (body, status, reason) => {
    const answer = await admin("POST", "/admin/accounts/test", body);
    expect(answer.status).toBe(status);
    expect(answer.body["detail"]).toContain(reason);
  });
});

describe("POST /admin/accounts/test-all", () => {
  it("tests all accounts, returns the outcomes, and shows its progress", async () => {
    await admin("POST", "/admin/accounts", { email: "suspended@sandbox.test", password: "sandbox" });
    const { status, body } = await admin("POST", "/admin/accounts/test-all");
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 4, success: 3, failed: 1 });
    const results = Object(body["results"]);
    expect(results).toHaveLength(4);
    const bad = results.find(({ account }: { account: string }) => account === "suspended@sandbox.test");
    expect(bad).toMatchObject({ success: false, message: expect.stringContaining("suspended") });
    const progress = await admin("GET", "/admin/accounts/test-all/status");
    expect(progress.body).toMatchObject({ running: false, total: 4, done: 4, success: 3, failed: 1 });
    expect(progress.body["failures"]).toEqual([bad]);
  });

  it("shows how far it has come while it runs", async () => {
    const accounts = Array.from({ length: 60 }, (_, index) => ({
      email: `many${index}@sandbox.test`,
      password: "sandbox",
    }));
    // The last account's backend says nothing until the test has been seen to run.
    let goOn = (): void => undefined;
    const seen = new Promise<void>((resolve) => (goOn = resolve));
    const backend = await serve((_request, response) => {
      void seen.then(() => response.end(JSON.stringify({ object: "list", data: [] })));
    });
    try {
      // A second try of the test finds the data of the first one.
      await admin("DELETE", "/admin/providers/held");
      const provider = { id: "held", driver: "openai", base_url: backend.origin };
      expect((await admin("POST", "/admin/providers", provider)).status).toBe(200);
      await admin("POST", "/admin/config", { accounts });
      const held = { provider: "held", token: "backend-key" };
      expect((await admin("POST", "/admin/accounts", held)).status).toBe(200);
      const status = async () => (await admin("GET", "/admin/accounts/test-all/status")).body;
      const testing = admin("POST", "/admin/accounts/test-all", {});
      await expect.poll(status).toMatchObject({ running: true, total: 61, finished_at: 0 });
      goOn();
      expect((await testing).body).toMatchObject({ total: 61, success: 61 });
      expect(await status()).toMatchObject({ running: false, done: 61, finished_at: expect.any(Number) });
    } finally {
      goOn();
      await admin("POST", "/admin/config", { accounts: THREE });
      await admin("DELETE", "/admin/providers/held");
      await backend.close();
    }
  });

  it("refuses a model that does not exist", async () => {
    const { status, body } = await admin("POST", "/admin/accounts/test-all", { model: "nothing" });
    expect([status, typeof body["detail"]]).toEqual([400, "string"]);
  });
});

describe("POST /admin/accounts/sessions/delete-all", () => {
  it("deletes the account's sessions at the provider", async () => {
    await running.gateway.sandbox.reset();
    await chat("hi", {}, { "x-gateway-target-account": "one@sandbox.test" });
    await chat("hi", {}, { "x-gateway-target-account": "two@sandbox.test" });
    const answer = await admin("POST", "/admin/accounts/sessions/delete-all", {
      identifier: "one@sandbox.test",
    });
    expect(answer.body).toMatchObject({ success: true, message: "1 sessions were deleted" });
    expect((await running.gateway.sandbox.state()).sessions).toEqual({ "two@sandbox.test": 1 });
  });

  it("reports a missing account and a failure as success false with the reason", async () => {
    const missing = await admin("POST", "/admin/accounts/sessions/delete-all", { identifier: "nobody" });
    expect(missing).toEqual({
      status: 200,
      body: { success: false, message: 'the account "nobody" does not exist' },
    });
    await admin("POST", "/admin/accounts", { email: "suspended@sandbox.test", password: "sandbox" });
    const failed = await admin("POST", "/admin/accounts/sessions/delete-all", {
      identifier: "suspended@sandbox.test",
    });
    expect(failed.body).toMatchObject({ success: false, message: expect.stringContaining("suspended") });
  });
});

describe("GET /admin/queue/status", () => {
  it("has the contract's fields, and the live leases", async () => {
    const idle = await admin("GET", "/admin/queue/status");
    expect(idle.body).toMatchObject({
      available: 3,
      in_use: 0,
      total: 3,
      available_accounts: ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"],
      in_use_accounts: [],
      max_inflight_per_account: 2,
      global_max_inflight: 6,
      recommended_concurrency: 6,
      waiting: 0,
      max_queue_size: 6,
    });
    const busy = chat("[[stall:1500]]", {}, { "x-gateway-target-account": "one@sandbox.test" });
    await expect
      .poll(async () => (await admin("GET", "/admin/queue/status")).body)
      .toMatchObject({
        in_use: 1,
        in_use_accounts: ["one@sandbox.test"],
        leases: [{ account: "one@sandbox.test", model: "provider-v4-flash", request_id: expect.any(String) }],
      });
    await (await busy).text();
    await expect.poll(async () => (await admin("GET", "/admin/queue/status")).body["in_use"]).toBe(0);
  });
});

describe("GET /admin/queue/status under load", () => {
  it("counts held slots and waiting requests exactly", async () => {
    const busy = Array.from({ length: 8 }, () => chat("[[stall:2500]]"));
    await expect
      .poll(async () => (await admin("GET", "/admin/queue/status")).body)
      .toMatchObject({
        available: 0,
        available_accounts: [],
        in_use: 6,
        in_use_accounts: ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"],
        waiting: 2,
      });
    const { body } = await admin("GET", "/admin/queue/status");
    expect(body["leases"]).toHaveLength(6);
    expect(body["waiting_requests"]).toHaveLength(2);
    const answers = await Promise.all(busy);
    expect(answers.map(({ status }) => status)).toEqual(busy.map(() => 200));
    await Promise.all(answers.map((answer) => answer.text()));
  });
});

describe("POST /admin/import", () => {
  it("adds keys and accounts that are new, and counts them", async () => {
    const { status, body } = await admin("POST", "/admin/import", {
      keys: ["sk-dev", "sk-bulk-1", { key: "sk-bulk-2", name: "two" }, "sk-bulk-1"],
      accounts: [
        { email: "one@sandbox.test", password: "changed" },
        { email: "new@sandbox.test", password: "sandbox", token: "" },
        { email: "", password: "", token: "sandbox-token-bulk" },
      ],
    });
    expect(status).toBe(200);
    expect(body).toEqual({ success: true, imported_keys: 2, imported_accounts: 2 });
    expect((await list()).total).toBe(5);
    expect((await chat("hi", {}, { authorization: "Bearer sk-bulk-2" })).status).toBe(200);
    expect((await chat("hi", {}, { "x-gateway-target-account": "one@sandbox.test" })).status).toBe(200);
  });

  it.each([
    [{}, "keys"],
    [{ keys: [""] }, "keys[0]"],
    [{ keys: ["sk-not-added"], accounts: [{ password: "x" }] }, "accounts[0]"],
  ])("refuses %j and adds nothing", async (body, field) => {
    const answer = await admin("POST", "/admin/import", body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toContain(field);
    expect((await list()).total).toBe(3);
  });
});

describe("POST /admin/test", () => {
  it.each([[{}], [undefined]])("sends a greeting with the first key by default (body: %j)", async (sent) => {
    const { status, body } = await admin("POST", "/admin/test", sent);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      status_code: 200,
      response: { object: "chat.completion", model: "provider-v4-flash" },
    });
  });

  it("accepts model, message and key", async () => {
    const { body } = await admin("POST", "/admin/test", {
      model: "provider-v4-pro",
      message: "[[say:pong]]",
      api_key: "sk-dev",
    });
    expect(Object(body["response"]).choices[0].message.content).toBe("pong");
  });

  it("returns a failure with its status and the body that a client would get", async () => {
    const wrongModel = await admin("POST", "/admin/test", { model: "nothing" });
    expect(wrongModel).toMatchObject({
      status: 200,
      body: { success: false, status_code: 400, response: { error: { code: "model_not_found" } } },
    });
    const passThrough = await admin("POST", "/admin/test", { api_key: "no-such-token" });
    expect(passThrough.body).toMatchObject({ success: false, status_code: 401 });
  });
});
