import { describe, expect, test, vi } from "vitest";
import { type Config, configSchema } from "../../../../src/core/config/schema.ts";
import { clientDisconnected } from "../../../../src/core/http/client-disconnect.ts";
// The lazily loaded module must be there before the test's clock goes on.
import "../../../../src/gateway/credentials/modules.ts";
import { getProvider } from "../../../../src/gateway/providers/provider-registry.ts";
import { LEASE_TTL_MS } from "../../../../src/pool/leases/lease-timing.ts";
import { AccountWork, refusal } from "../../../support/account-work.ts";
import {
  type MemoryGateway,
  managed,
  pass,
  passThrough,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import { type Reply, ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { refuses } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const ONE = { accounts: [accountNamed("one@test")], runtime: { account_max_inflight: 1 } };

/** The answer to a sign-in. */
const TOKEN: Reply = { json: { token: "a-token", expires_at: 0 } };

const slots = async ({ platform }: MemoryGateway) => {
  const { in_use: inUse, waiting } = await platform.accounts.getStatus();
  return { inUse, waiting };
};

const signIns = ({ upstream }: MemoryGateway): number => upstream.to(/\/login$/).length;

describe("work with an account", () => {
  test("holds one slot exactly as long as it lasts", async () => {
    const gateway = await createGateway();
    const work = new AccountWork(gateway).with(async () => slots(gateway));
    expect(await work).toEqual({ inUse: 1, waiting: 0 });
    expect(await slots(gateway)).toEqual({ inUse: 0, waiting: 0 });
  });

  test.each([
    ["fails", () => new Error("nobody's fault")],
    ["is refused", () => refusal("rate_limited")],
  ])("releases its slot when it %s, and throws the same error", async (_, failure) => {
    const gateway = await createGateway();
    const error = failure();
    await expect(new AccountWork(gateway).failing(error)).rejects.toBe(error);
    expect(await slots(gateway)).toEqual({ inUse: 0, waiting: 0 });
  });

  test("is shown with its request, model and style while it holds a slot", async () => {
    const gateway = await createGateway();
    const { leases } = await new AccountWork(gateway).with(() => gateway.platform.accounts.getStatus());
    expect(leases).toMatchObject([
      { account: "one@test", model: "m", dialect: "test", request_id: "req_test" },
    ]);
  });

  test("goes through the proxy that the account is bound to", async () => {
    const proxy = { id: "p1", type: "socks5" as const, host: "proxy.test", port: 1080 };
    const gateway = await createGateway({
      config: { accounts: [{ ...accountNamed("one@test"), proxy_id: "p1" }], proxies: [proxy] },
    });
    await new AccountWork(gateway).with(({ account }) => account.fetch("http://upstream.test/api/account"));
    const [login, call] = gateway.upstream.asked;
    expect(login?.proxy).toMatchObject({ host: "proxy.test" });
    expect(call?.proxy).toMatchObject({ host: "proxy.test", port: 1080 });
  });

  test("of a pass-through caller uses the caller's token, no slot and no proxy", async () => {
    const gateway = await createGateway({ config: { accounts: [] } });
    const work = new AccountWork(gateway, { caller: passThrough("own") });
    const session = await work.with(async ({ account, accountId }) => {
      await account.fetch("http://upstream.test/api/account");
      return { accountId, ...(await slots(gateway)) };
    });
    expect(session).toEqual({ accountId: "", inUse: 0, waiting: 0 });
    expect(work.tokens).toEqual(["own"]);
    expect(gateway.upstream.asked).toMatchObject([{ path: "/api/account", proxy: null }]);
  });
});

describe("a request that waits for an account while its provider is edited", () => {
  const G = { id: "g", driver: "openai", base_url: "http://g.test/v1", token: "a-token" };

  /** What comes of it. */
  async function waitsThrough(edited: object, driver = G.driver): Promise<unknown> {
    const providers = [{ ...G, driver }];
    const gateway = await createGateway({ config: { providers, runtime: { account_max_inflight: 1 } } });
    const { platform } = gateway;
    const { config } = await platform.configuration.read();
    const provider = getProvider(platform, config, "g");
    const first = new AccountWork(gateway, { provider }).lasting(5_000);
    await pass(1);
    const next = new AccountWork(gateway, { provider }).with(async () => "well");
    const outcome = next.catch((error: unknown) => error);
    await pass(1);
    const after = configSchema.parse({ providers: [{ ...G, driver, ...edited }] });
    await platform.configuration.update((present) => ({ ...present, providers: after.providers }));
    await pass(10_000);
    await first;
    return outcome;
  }

  test.each([
    ["its models", { models: { "gpt-4o": "another" } }],
    ["its headers", { headers: { "x-tenant": "another" } }],
    ["its patience", { first_byte_timeout_ms: 5_000 }],
  ])("continues if the provider is still the same: %s", async (_, edited) => {
    expect(await waitsThrough(edited)).toBe("well");
  });

  test("continues if the driver's earlier name is replaced by its new name", async () => {
    expect(await waitsThrough({ driver: "anthropic" }, "messages")).toBe("well");
  });

  test.each([
    ["its address", { base_url: "http://elsewhere.test/v1" }],
    ["its driver", { driver: "openai-responses" }],
  ])("sends nothing to a changed provider: %s", async (_, edited) => {
    expect(await waitsThrough(edited)).toMatchObject({ status: 503, code: "upstream_unavailable" });
  });
});

describe("an account's slot", () => {
  test("is held for work that takes 120 s, and is not used by others meanwhile", async () => {
    const gateway = await createGateway({ config: ONE, env: { QUEUE_TIMEOUT_MS: "600000" } });
    const long = new AccountWork(gateway).lasting(120_000);
    await pass(1);
    const next = new AccountWork(gateway).lasting(1);
    for (let second = 7; second < 120; second += 7) {
      await pass(7_000);
      expect(await slots(gateway)).toEqual({ inUse: 1, waiting: 1 });
    }
    await pass(5_000);
    expect(await Promise.all([long, next])).toEqual(["one@test", "one@test"]);
  });

  test("is held during a sign-in that takes longer than a lease", async () => {
    const gateway = await createGateway({
      config: ONE,
      env: { QUEUE_TIMEOUT_MS: "600000" },
      other: ({ path }) => (path === "/api/login" ? { late: 45_000, reply: TOKEN } : undefined),
    });
    const slow = new AccountWork(gateway).lasting(20_000);
    await pass(1);
    const next = new AccountWork(gateway).lasting(1);
    await pass(44_000);
    expect(await slots(gateway)).toEqual({ inUse: 1, waiting: 1 });
    await pass(21_002);
    expect(await slow).toBe("one@test");
    expect(await next).toBe("one@test");
    expect(signIns(gateway)).toBe(1);
  });

  test("is held after the machine slept or its clock was set", async () => {
    const gateway = await createGateway({ config: ONE });
    const work = new AccountWork(gateway).lasting(10_000);
    await pass(1_000);
    vi.setSystemTime(Date.now() + 3_600_000);
    const next = new AccountWork(gateway).lasting(1);
    await pass(2_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    await pass(2_000);
    expect(await slots(gateway)).toEqual({ inUse: 1, waiting: 1 });
    await pass(10_000);
    expect([await work, await next]).toEqual(["one@test", "one@test"]);
  });

  test("that was lost ends the work as a timeout, and blames no account", async () => {
    const gateway = await createGateway({ config: ONE });
    const work = new AccountWork(gateway);
    const failed = expect(work.lasting(600_000)).rejects.toMatchObject({
      kind: "timeout",
      message: "the account's slot was reclaimed",
    });
    await pass(1_000);
    // The process was stopped for longer than a lease lasts, and no timer has gone off yet.
    const now = performance.now();
    const stopped = vi.spyOn(performance, "now").mockReturnValue(now + LEASE_TTL_MS);
    await gateway.platform.accounts.getStatus(0);
    stopped.mockRestore();
    const next = new AccountWork(gateway).lasting(100_000);
    await pass(10_000);
    await failed;
    expect(work.abort.signal.aborted).toBe(true);
    expect(await slots(gateway)).toEqual({ inUse: 1, waiting: 0 });
    await pass(100_000);
    expect(await next).toBe("one@test");
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });
});

describe("an account's token", () => {
  test("is obtained once and reused", async () => {
    const gateway = await createGateway({ config: ONE });
    const work = new AccountWork(gateway);
    await work.failing();
    await work.failing();
    expect(work.tokens).toEqual(["one@test#1", "one@test#1"]);
    expect(signIns(gateway)).toBe(1);
  });

  test("is refreshed once after it expired, and the call is repeated", async () => {
    const gateway = await createGateway({ config: ONE });
    expect(await new AccountWork(gateway).expiring(1)).toEqual(["one@test#1", "one@test#2"]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test("is not refreshed a second time, which blames the account", async () => {
    const gateway = await createGateway({ config: ONE });
    await expect(new AccountWork(gateway).expiring(2)).rejects.toMatchObject({ kind: "invalid_credentials" });
    expect(signIns(gateway)).toBe(2);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      cooldowns: [{ account: "one@test", kind: "token_expired", failures: 1 }],
    });
  });

  test("is refreshed once for all calls that were refused at the same time", async () => {
    const gateway = await createGateway({ config: { ...ONE, runtime: { account_max_inflight: 5 } } });
    const works = Array.from({ length: 5 }, () => new AccountWork(gateway).expiring(1));
    const all = await Promise.all(works);
    expect(signIns(gateway)).toBe(2);
    expect(all).toEqual(Array(5).fill(["one@test#1", "one@test#2"]));
  });

  test("from the configuration cannot be refreshed without a password", async () => {
    const gateway = await createGateway({ config: { accounts: [{ token: "fixed" }] } });
    const work = new AccountWork(gateway);
    await expect(work.expiring(1)).rejects.toMatchObject({ kind: "invalid_credentials" });
    expect(work.tokens).toEqual(["fixed"]);
    expect(gateway.upstream.asked).toEqual([]);
  });

  describe("a token that the provider has refused", () => {
    const G = { id: "g", driver: "openai", base_url: "http://old.test/v1", token: "the-old-token" };
    const H = { id: "h", driver: "openai", base_url: "http://h.test/v1", token: "another-token" };
    const MOVED = { email: "moved@test", password: "a-password", token: "an-old-token" };

    /** Speaks to `g` until the configuration has been edited, and is refused then. Resolves with the tokens that were used. */
    async function refusedAfter(config: object, edited: Partial<Config>) {
      const gateway = await createGateway({ config });
      const { platform } = gateway;
      const { config: before } = await platform.configuration.read();
      const work = new AccountWork(gateway, { provider: getProvider(platform, before, "g") });
      const tokens: string[] = [];
      const outcome = work.with((session) =>
        session.runWithToken(async ({ token }) => {
          tokens.push(token);
          if (tokens.length > 1) return "well";
          await platform.configuration.update((present) => configSchema.parse({ ...present, ...edited }));
          throw refusal("token_expired");
        }),
      );
      const end = await outcome.catch((error: unknown) => error);
      return { end, tokens, gateway };
    }

    test.each([
      ["its address", { ...G, base_url: "http://new.test/v1", token: "the-new-token" }],
      ["its driver", { ...G, driver: "openai-responses", token: "the-new-token" }],
    ])("is not replaced if %s was changed, too", async (_, g) => {
      const { end, tokens, gateway } = await refusedAfter(
        { providers: [G] },
        { providers: configSchema.parse({ providers: [g] }).providers },
      );
      expect(end).toMatchObject({ status: 503, code: "upstream_unavailable" });
      expect(tokens).toEqual(["the-old-token"]);
      expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
    });

    test("is replaced if only the token was changed", async () => {
      const g = { ...G, token: "the-new-token" };
      const { end, tokens } = await refusedAfter(
        { providers: [G] },
        { providers: configSchema.parse({ providers: [g] }).providers },
      );
      expect(end).toBe("well");
      expect(tokens).toEqual(["the-old-token", "the-new-token"]);
    });

    test.each([
      ["a new token", { ...MOVED, token: "a-new-token" }],
      ["its password", { ...MOVED, token: "" }],
    ])("is not replaced by %s of an account that moved to another provider", async (_, account) => {
      const { end, tokens, gateway } = await refusedAfter(
        { providers: [G, H], accounts: [{ ...MOVED, provider: "g" }] },
        { accounts: configSchema.parse({ accounts: [{ ...account, provider: "h" }] }).accounts },
      );
      expect(end).toMatchObject({ status: 503, code: "upstream_unavailable" });
      expect(tokens).toEqual(["an-old-token"]);
      expect(gateway.upstream.asked).toEqual([]);
    });
  });

  test("of a pass-through caller is never refreshed", async () => {
    const gateway = await createGateway();
    const work = new AccountWork(gateway, { caller: passThrough("own") });
    // It may have been meant as a key of the gateway.
    const message = expect.stringContaining("does not know the API key");
    await expect(work.expiring(1)).rejects.toMatchObject({ kind: "token_expired", message });
    expect(signIns(gateway)).toBe(0);
  });
});

describe("a sign-in", () => {
  const refusedFor = (...accounts: string[]) => ({
    other: (asked: UpstreamRequest) =>
      asked.path === "/api/login" && accounts.includes(String(asked.json()["email"]))
        ? refuses(401, "invalid_credentials")
        : undefined,
  });

  test("that is refused leads to another account, for any work", async () => {
    const gateway = await createGateway(refusedFor("one@test"));
    const left: unknown[] = [];
    const work = new AccountWork(gateway, { onAccountFailed: (account) => left.push(account) });
    expect(await work.failing()).toBe("two@test");
    expect(left).toEqual(["one@test"]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      in_use: 0,
      cooldowns: [{ account: "one@test", kind: "invalid_credentials", failures: 1 }],
    });
  });

  test("that is refused for all accounts is reported to the caller", async () => {
    const gateway = await createGateway(refusedFor("one@test", "two@test"));
    const work = new AccountWork(gateway);
    await expect(work.failing()).rejects.toMatchObject({ kind: "invalid_credentials" });
    expect(signIns(gateway)).toBe(2);
    // All cool down: from now on it costs one attempt.
    await expect(work.failing()).rejects.toMatchObject({ kind: "invalid_credentials" });
    expect(signIns(gateway)).toBe(3);
  });

  test("that is refused is reported to a caller who pins the account", async () => {
    const gateway = await createGateway(refusedFor("one@test"));
    const work = new AccountWork(gateway, { caller: managed("one@test"), canRetry: () => true });
    await expect(work.failing()).rejects.toMatchObject({ kind: "invalid_credentials" });
    expect(signIns(gateway)).toBe(1);
  });

  test("that is refused is reported as a lack of free accounts while the healthy one is busy", async () => {
    const gateway = await createGateway({
      ...refusedFor("one@test"),
      config: { runtime: { account_max_inflight: 1 } },
    });
    const busy = new AccountWork(gateway, { caller: managed("two@test") }).lasting(90_000);
    await pass(1);
    const failed = expect(new AccountWork(gateway).failing()).rejects.toMatchObject({
      status: 429,
      code: "concurrency_limit_exceeded",
    });
    await pass(90_000);
    await failed;
    await busy;
  });

  test("that never ends fails after 120 s for all waiting requests", async () => {
    const gateway = await createGateway({
      config: { ...ONE, runtime: { account_max_inflight: 2 } },
      other: ({ path }) => (path === "/api/login" ? "hang" : undefined),
    });
    const works = [new AccountWork(gateway), new AccountWork(gateway)];
    const failed = works.map((work) => expect(work.failing()).rejects.toMatchObject({ kind: "timeout" }));
    await pass(120_000);
    await Promise.all(failed);
    expect(gateway.upstream.asked.map(({ outcome }) => outcome)).toEqual(["cancelled"]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });

  test("of another request does not hold the slot of a client that has left", async () => {
    const gateway = await createGateway({
      config: { ...ONE, runtime: { account_max_inflight: 2 } },
      other: ({ path }) => (path === "/api/login" ? { late: 20_000, reply: TOKEN } : undefined),
    });
    const first = new AccountWork(gateway).failing();
    await pass(1);
    const second = new AccountWork(gateway);
    const failed = expect(second.failing()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    expect(await slots(gateway)).toEqual({ inUse: 2, waiting: 0 });
    second.abort.abort(clientDisconnected());
    await pass(1);
    await failed;
    expect(await slots(gateway)).toEqual({ inUse: 1, waiting: 0 });
    await pass(20_000);
    expect(await first).toBe("one@test");
  });
});

describe("the renewal of an access token", () => {
  const AUTH = {
    type: "oauth2" as const,
    token_url: "http://upstream.test/token",
    client_id: "client",
    refresh_token: "first",
  };
  const RENEWED: Reply = { json: { access_token: "renewed", expires_in: 3600, refresh_token: "second" } };

  test("continues when its client leaves, because the refresh token works only once", async () => {
    const gateway = await createGateway({
      config: { accounts: [{ ...accountNamed("one@test"), password: "", auth: AUTH }] },
      other: ({ path }) => (path === "/token" ? { late: 5_000, reply: RENEWED } : undefined),
    });
    const left = new AccountWork(gateway);
    const failed = expect(left.failing()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    left.abort.abort(clientDisconnected());
    await pass(1);
    await failed;
    // Nobody else renews the token meanwhile.
    const next = new AccountWork(gateway);
    const answered = next.failing();
    await pass(1_000);
    expect(gateway.upstream.to(/\/token$/)).toHaveLength(1);
    await pass(5_000);
    await answered;
    expect(next.tokens).toEqual(["renewed"]);
    expect(gateway.upstream.to(/\/token$/)).toHaveLength(1);
    expect(await slots(gateway)).toEqual({ inUse: 0, waiting: 0 });
  });
});

describe("usage and metrics count a failed attempt for the provider that failed", () => {
  const vendor = (id: string) => ({
    id,
    driver: "openai",
    base_url: `http://${id}.test/v1`,
    token: `sk-${id}`,
    models: { m: "m" },
  });
  const config = {
    providers: [vendor("one"), vendor("two")],
    model_routes: { any: [{ model: "one/m" }, { model: "two/m" }] },
  };
  const answer = {
    json: { choices: [{ message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] },
  };
  const ask = async (reply: (asked: UpstreamRequest) => Reply) => {
    const gateway = await createGateway({ config, upstream: new ScriptedUpstream(reply) });
    const body = { model: "any", messages: [{ role: "user", content: "hi" }] };
    const response = await gateway.post("/v1/chat/completions", body);
    await response.text();
    await gateway.settle();
    const { failed_attempts: failed = [] } = Object(gateway.lines.at(-1));
    return [response.status, failed.map(({ provider }: { provider: string }) => provider)];
  };

  test.each<[string, (asked: UpstreamRequest) => Reply, number, string[]]>([
    ["a fail-over", ({ host }) => (host === "one.test" ? { status: 500, json: {} } : answer), 200, ["one"]],
    ["failures of all", () => ({ status: 500, json: {} }), 503, ["one", "two"]],
    ["a success", () => answer, 200, []],
    ["a refusal of the request", () => ({ status: 400, json: { error: { message: "no" } } }), 400, []],
  ])("after %s", async (_, reply, status, providers) => {
    expect(await ask(reply)).toEqual([status, providers]);
  });
});
