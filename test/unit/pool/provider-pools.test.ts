import { describe, expect, test } from "vitest";
import { configSchema } from "../../../src/core/config/schema.ts";
import { ANY_PROVIDER } from "../../../src/core/ports/accounts.ts";
import type { PoolConfiguration } from "../../../src/core/ports/pool-configuration.ts";
import { needsNoAccount } from "../../../src/gateway/providers/drivers.ts";
import { buildPoolConfiguration } from "../../../src/pool/configuration.ts";
import { failure } from "../../support/failures.ts";
import { account, LIMITS, request, result } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const OTHER = "other";

/** Accounts of the default provider, and of another one. */
function rigOf(
  own: readonly string[],
  others: readonly string[],
  more: Partial<PoolConfiguration> = {},
): PoolSimulator {
  const simulator = new PoolSimulator();
  const accounts = [...own.map((id) => account(id)), ...others.map((id) => account(id, { provider: OTHER }))];
  simulator.pool.configure({ accounts, limits: LIMITS, ...more });
  return simulator;
}

describe("accounts of several providers", () => {
  test("serve only requests for their own provider, and name it", () => {
    const simulator = rigOf(["a"], ["x", "y"], { limits: { ...LIMITS, perAccount: 2 } });
    expect([simulator.grant(), simulator.grant()].map((grant) => grant.account.id)).toEqual(["a", "a"]);
    const others = [simulator.grant({ provider: OTHER }), simulator.grant({ provider: OTHER })];
    expect(others.map((grant) => grant.account)).toEqual([
      { id: "x", proxyId: "", provider: OTHER },
      { id: "y", proxyId: "", provider: OTHER },
    ]);
    simulator.queue();
  });

  test("a request for a provider without accounts is refused at once", () => {
    const simulator = rigOf(["a"], []);
    expect(simulator.pool.acquire(request({ provider: OTHER }))).toEqual({ refused: "no_accounts" });
    expect(rigOf([], ["x"]).pool.acquire(request())).toEqual({ refused: "no_accounts" });
  });

  test("requests that wait for one provider do not delay those for another", () => {
    const simulator = rigOf(["a"], ["x"]);
    const [first, second] = [simulator.grant(), simulator.grant({ provider: OTHER })];
    const own = simulator.queue();
    const other = simulator.queue({ provider: OTHER });
    simulator.pool.release(second.lease);
    expect([result(own), result(other)]).toEqual([null, "x"]);
    simulator.pool.release(first.lease);
    expect(result(own)).toBe("a");
  });

  test("a queue that is full for one provider accepts requests for another", () => {
    const simulator = rigOf(["a"], ["x"]);
    simulator.grant();
    simulator.grant({ provider: OTHER });
    simulator.queue();
    expect(simulator.pool.acquire(request())).toEqual({ refused: "queue_full" });
    simulator.queue({ provider: OTHER });
    expect(simulator.pool.status()).toMatchObject({ waiting: 2, max_queue_size: 2 });
  });

  test("the global limit serves requests in order of arrival for all providers", () => {
    const simulator = rigOf(["a", "b"], ["x", "y"], { limits: { ...LIMITS, global: 2 } });
    const held = [simulator.grant(), simulator.grant({ provider: OTHER })];
    const waiting = [simulator.queue({ provider: OTHER }), simulator.queue()];
    for (const { lease } of held) {
      simulator.pool.release(lease);
      expect(simulator.pool.status().in_use).toBe(2);
    }
    expect(waiting.map(result)).toEqual(["y", "b"]);
  });

  test("the share of a caller is separate for each provider", () => {
    const simulator = rigOf(["a", "b"], ["x"], { limits: { ...LIMITS, queue: 10 } });
    for (let slot = 0; slot < 2; slot += 1) simulator.grant({ caller: "much" });
    const { lease } = simulator.grant({ caller: "little", provider: OTHER });
    const much = simulator.queue({ caller: "much", provider: OTHER });
    const little = simulator.queue({ caller: "little", provider: OTHER });
    simulator.pool.release(lease);
    expect([result(much), result(little)]).toEqual(["x", null]);
  });

  test("an outage of one provider does not affect another", () => {
    const simulator = rigOf(["a", "b", "c", "d"], ["x"], { limits: { ...LIMITS, perAccount: 2 } });
    const down = failure("unreachable");
    for (const [index, target] of ["a", "b", "c"].entries()) {
      const { lease } = simulator.grant({ requestId: `r${index}`, target });
      simulator.pool.failed(lease, down);
      simulator.pool.release(lease);
    }
    expect(simulator.pool.status().outages).toMatchObject([{ provider: "", model: "" }]);
    // One at a time tries whether it works again.
    simulator.grant({ requestId: "tries" });
    expect(simulator.pool.acquire(request({ requestId: "late", waitMs: 0 }))).toMatchObject({
      refused: "provider_down",
    });
    expect(simulator.grant({ provider: OTHER }).account.id).toBe("x");
  });

  test("failover uses accounts of the same provider", () => {
    const simulator = rigOf(["a"], ["x"]);
    const { lease } = simulator.grant();
    expect(simulator.pool.failed(lease, failure("rate_limited"))).toBe(false);
    expect(simulator.pool.acquire(request({ exclude: ["a"] }))).toEqual({ refused: "no_accounts" });
  });

  test("a pinned account must belong to the provider, unless any is allowed", () => {
    const simulator = rigOf(["a"], ["x"]);
    expect(simulator.pool.acquire(request({ target: "x" }))).toEqual({ refused: "target_not_found" });
    expect(simulator.pool.acquire(request({ target: "a", provider: OTHER }))).toEqual({
      refused: "target_not_found",
    });
    expect(simulator.grant({ target: "x", provider: ANY_PROVIDER }).account.provider).toBe(OTHER);
  });

  test("a provider's accounts may have their own number of slots", () => {
    const simulator = rigOf(["a"], ["x"], { perAccount: { [OTHER]: 3 } });
    simulator.grant();
    simulator.queue();
    for (let slot = 0; slot < 3; slot += 1) simulator.grant({ provider: OTHER });
    simulator.queue({ provider: OTHER });
    expect(simulator.pool.status()).toMatchObject({ in_use: 4, recommended_concurrency: 4 });
  });

  test("an account that changes its provider takes neither slots nor tokens with it", () => {
    const simulator = rigOf(["a", "b"], ["x"]);
    const { lease, account: moved } = simulator.grant();
    const pinned = simulator.queue({ target: moved.id });
    const limits = LIMITS;
    const accounts = [account("a", { provider: OTHER }), account("b"), account("x", { provider: OTHER })];
    simulator.pool.configure({ accounts, limits });
    expect(result(pinned)).toBe("target_not_found");
    expect(simulator.grant().account.id).toBe("b");
    expect(simulator.grant({ provider: OTHER }).account.id).toBe("x");
    // Its slot is still held.
    const waits = simulator.queue({ provider: OTHER });
    simulator.pool.release(lease);
    expect(result(waits)).toBe("a");
  });

  test("a token that one provider gave is not shown to another after a restart", () => {
    const simulator = rigOf(["a"], []);
    const { lease } = simulator.grant();
    const asked = simulator.pool.token(lease);
    if (!("signIn" in asked)) throw new Error("the holder was not asked to sign in");
    simulator.pool.signedIn("a", asked.signIn.ticket, { token: "of-the-first", expiresAt: 0 });
    simulator.pool.release(lease);
    simulator.restart();
    simulator.pool.configure({ accounts: [account("a")], limits: LIMITS });
    simulator.advance(5_000);
    expect(simulator.grant().token).toBe("of-the-first");
    simulator.restart();
    simulator.pool.configure({ accounts: [account("a", { provider: OTHER })], limits: LIMITS });
    simulator.advance(5_000);
    expect(simulator.grant({ provider: OTHER }).token).toBeNull();
  });
});

describe("a token that an account got from its provider", () => {
  test("is deleted if the provider gets another address or token, also after a restart", () => {
    const simulator = new PoolSimulator();
    const at = (endpointDigest: string) => ({
      accounts: [account("a", { token: "", password: "secret", endpointDigest })],
      limits: LIMITS,
    });
    const signIn = (token: string) => {
      const { lease } = simulator.grant();
      const answer = simulator.pool.token(lease);
      if (answer instanceof Promise || !("signIn" in answer)) throw new Error("no ticket");
      simulator.pool.signedIn("a", answer.signIn.ticket, { token, expiresAt: 0 });
      simulator.pool.release(lease);
    };
    const tokenNow = () => {
      const { lease, token } = simulator.grant();
      simulator.pool.release(lease);
      return token;
    };
    simulator.pool.configure(at("one"));
    simulator.advance(5_000);
    signIn("of-one");
    expect(tokenNow()).toBe("of-one");
    simulator.restart();
    simulator.pool.configure(at("one"));
    simulator.advance(5_000);
    expect(tokenNow()).toBe("of-one");
    simulator.pool.configure(at("two"));
    expect(tokenNow()).toBeNull();
    signIn("of-two");
    simulator.restart();
    simulator.pool.configure(at("three"));
    simulator.advance(5_000);
    expect(tokenNow()).toBeNull();
  });
});

describe("the pool's configuration", () => {
  const made = (config: object) =>
    buildPoolConfiguration(configSchema.parse(config), { queueWaitMs: 1, needsNoAccount });
  const provider = { id: "vllm", driver: "openai", base_url: "http://vllm.test/v1" };

  test("gives a provider without accounts one of its own, if it needs only a key", async () => {
    const { accounts } = await made({
      providers: [
        { ...provider, token: "sk-vllm" },
        { ...provider, id: "free" },
      ],
    });
    expect(accounts).toMatchObject([
      { id: "provider:vllm", provider: "vllm", token: "sk-vllm" },
      { id: "provider:free", provider: "free", token: "none" },
    ]);
    expect((await made({ providers: [{ ...provider, driver: "sessions" }] })).accounts).toEqual([]);
  });

  test("gives the deployment's own provider such an account, too, if it has an address and no account", async () => {
    const ofDeployment = async (endpoint: object, accounts: object[] = []) => {
      const defaultEndpoint = {
        driver: "openai",
        base_url: "http://own.test/v1",
        token: "sk-own",
        ...endpoint,
      };
      const deployment = { queueWaitMs: 1, needsNoAccount, defaultEndpoint };
      return (await buildPoolConfiguration(configSchema.parse({ accounts }), deployment)).accounts;
    };
    const [account, ...others] = await ofDeployment({});
    expect(others).toEqual([]);
    expect(account).toMatchObject({ id: "provider:default", token: "sk-own" });
    expect(account?.provider).toBeUndefined();
    expect(await ofDeployment({ driver: "sessions" })).toEqual([]);
    expect(await ofDeployment({ base_url: "" })).toEqual([]);
    expect(await ofDeployment({}, [{ token: "one" }])).toMatchObject([{ token: "one" }]);
  });

  test("states the source of a token that the provider issues", async () => {
    const digestOf = async (entry: object, account: object = { email: "a@vllm.test", password: "p" }) => {
      const { accounts } = await made({
        providers: [{ ...provider, ...entry }],
        accounts: [{ ...account, provider: "vllm" }],
      });
      return accounts[0]?.endpointDigest;
    };
    const digests = await Promise.all([
      digestOf({}),
      digestOf({ token: "sk-other" }),
      digestOf({ base_url: "http://other.test/v1" }),
      digestOf({ driver: "anthropic" }),
    ]);
    expect(new Set(digests).size).toBe(4);
    expect(await digestOf({ name: "Other name" })).toBe(digests[0]);
    expect(await digestOf({}, { token: "sk-own" })).toBeUndefined();
  });

  test("keeps a provider's accounts, and disables those of a disabled provider", async () => {
    const accounts = [{ token: "one", provider: "vllm" }];
    expect((await made({ providers: [provider], accounts })).accounts).toMatchObject([
      { provider: "vllm", token: "one", disabled: false },
    ]);
    const off = await made({ providers: [{ ...provider, enabled: false }], accounts });
    expect(off.accounts).toMatchObject([{ provider: "vllm", disabled: true }]);
    expect((await made({ providers: [{ ...provider, enabled: false }] })).accounts).toEqual([]);
  });
});
