import { describe, expect, test } from "vitest";
import { ProviderError } from "../../../../src/core/errors/provider-error.ts";
import type { Lease } from "../../../../src/core/ports/accounts.ts";
import { getAccountToken } from "../../../../src/gateway/accounts/sign-in.ts";
import { InProcessAccountPool } from "../../../../src/pool/in-process-pool.ts";
import { failure } from "../../../support/failures.ts";
import { account, LIMITS, request } from "../../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../../support/pool-simulator/pool-simulator.ts";

const HOUR = 3_600_000;

async function leases(simulator: PoolSimulator, count: number): Promise<Lease[]> {
  const pool = new InProcessAccountPool(simulator.pool);
  const acquired = await Promise.all(Array.from({ length: count }, () => pool.acquire(request())));
  return acquired.flatMap((it) => ("lease" in it ? [it.lease] : []));
}

function simulatorWith(more: Partial<Parameters<typeof account>[1]> = {}, limits = {}): PoolSimulator {
  const simulator = new PoolSimulator();
  simulator.pool.configure({
    accounts: [account("a", more)],
    limits: { ...LIMITS, perAccount: 200, ...limits },
  });
  return simulator;
}

/** A provider whose sign-ins take until `finish` is called. */
class FakeProvider {
  attempts = 0;
  readonly #gate = Promise.withResolvers<void>();
  failure: ProviderError | null = null;
  expiresAt = 0;

  readonly signIn = async (): Promise<{ token: string; expiresAt: number }> => {
    this.attempts += 1;
    const { attempts } = this;
    await this.#gate.promise;
    if (this.failure !== null) throw this.failure;
    return { token: `token-${attempts}`, expiresAt: this.expiresAt };
  };

  finish(): void {
    this.#gate.resolve();
  }
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("sign-in", () => {
  test("signs in once for 100 simultaneous requests without a token", async () => {
    const simulator = simulatorWith();
    const provider = new FakeProvider();
    const held = await leases(simulator, 100);
    const tokens = Promise.all(held.map((lease) => getAccountToken(lease, provider.signIn)));
    await settle();
    provider.finish();
    expect(new Set(await tokens)).toEqual(new Set(["token-1"]));
    expect(provider.attempts).toBe(1);
  });

  test("signs in once for 100 simultaneous requests with an expired token", async () => {
    const simulator = simulatorWith({ token: "old" });
    const provider = new FakeProvider();
    const held = await leases(simulator, 100);
    expect(held.map((lease) => lease.initialToken)).toEqual(Array(100).fill("old"));
    const tokens = Promise.all(held.map((lease) => getAccountToken(lease, provider.signIn, "old")));
    await settle();
    provider.finish();
    expect(new Set(await tokens)).toEqual(new Set(["token-1"]));
    expect(provider.attempts).toBe(1);
    const [next] = await leases(simulator, 1);
    expect(next?.initialToken).toBe("token-1");
  });

  test("does not repeat for a refused token that was already replaced", async () => {
    const simulator = simulatorWith({ token: "old" });
    const provider = new FakeProvider();
    provider.finish();
    const [first, late] = await leases(simulator, 2);
    if (first === undefined || late === undefined) throw new Error("no lease");
    await getAccountToken(first, provider.signIn, "old");
    expect(await getAccountToken(late, provider.signIn, "old")).toBe("token-1");
    expect(provider.attempts).toBe(1);
  });

  test("gives its failure to all waiting requests, and cools the account down once", async () => {
    const simulator = simulatorWith();
    const provider = new FakeProvider();
    provider.failure = new ProviderError("invalid_credentials", "wrong password", { status: 401 });
    const held = await leases(simulator, 20);
    const outcomes = Promise.allSettled(held.map((lease) => getAccountToken(lease, provider.signIn)));
    await settle();
    provider.finish();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { kind: "invalid_credentials", message: "wrong password", status: 401 },
      });
    }
    expect(provider.attempts).toBe(1);
    expect(simulator.pool.status().cooldowns).toMatchObject([
      { account: "a", failures: 1, reason: "wrong password" },
    ]);
  });

  test("is taken over by the next request if the first one dies", async () => {
    const simulator = simulatorWith();
    const [dying, second, third] = await leases(simulator, 3);
    const ticket = await dying?.getToken();
    expect(ticket).toMatchObject({ signIn: { credentials: { email: "a", password: "secret" } } });
    const answers = [second?.getToken(), third?.getToken()];
    dying?.release();
    const next = await answers[0];
    if (next === undefined || !("signIn" in next)) throw new Error("no ticket was passed on");
    if (ticket !== undefined && "signIn" in ticket) {
      await dying?.failSignIn(ticket.signIn.ticket, failure("unreachable", "too late"));
    }
    await second?.completeSignIn(next.signIn.ticket, { token: "t", expiresAt: 0 });
    expect(await answers[1]).toEqual({ token: "t" });
  });

  test("is taken over by the next request if the client leaves, without blaming the account", async () => {
    const simulator = simulatorWith();
    const [leaving, second] = await leases(simulator, 2);
    if (leaving === undefined || second === undefined) throw new Error("no lease");
    const client = new AbortController();
    const aborted = new FakeProvider();
    aborted.failure = new ProviderError("unreachable", "aborted");
    const gone = getAccountToken(leaving, aborted.signIn, undefined, client.signal);
    const provider = new FakeProvider();
    provider.finish();
    const token = getAccountToken(second, provider.signIn);
    await settle();
    client.abort();
    aborted.finish();
    await expect(gone).rejects.toThrow("aborted");
    leaving.release();
    expect(await token).toBe("token-1");
    expect(simulator.pool.status().cooldowns).toEqual([]);
  });

  test("is shared with waiting requests as long as its request lives", async () => {
    const simulator = simulatorWith();
    const [slow, second] = await leases(simulator, 2);
    const ticket = await slow?.getToken();
    if (ticket === undefined || !("signIn" in ticket)) throw new Error("no ticket");
    const answer = second?.getToken();
    for (let passed = 0; passed < 110_000; passed += 10_000) {
      await slow?.renew();
      await second?.renew();
      simulator.advance(10_000);
    }
    await slow?.completeSignIn(ticket.signIn.ticket, { token: "t", expiresAt: 0 });
    expect(await answer).toEqual({ token: "t" });
  });

  test("is taken over by the next request if the first one falls silent", async () => {
    const simulator = simulatorWith();
    const [dead, second] = await leases(simulator, 2);
    await dead?.getToken();
    const answer = second?.getToken();
    for (let passed = 0; passed < 40_000; passed += 10_000) {
      await second?.renew();
      simulator.advance(10_000);
    }
    expect(await answer).toMatchObject({ signIn: {} });
  });

  test("keeps the token of an account without a password, and returns the provider's refusal", async () => {
    const simulator = simulatorWith({ email: "", password: "", token: "only" });
    const [lease] = await leases(simulator, 1);
    expect(lease?.initialToken).toBe("only");
    expect(await lease?.getToken("only")).toMatchObject({
      failed: { kind: "invalid_credentials", status: 401 },
    });
    const [next] = await leases(simulator, 1);
    expect(next?.initialToken).toBe("only");
  });

  test.each([
    ["given to another provider", { provider: "other" }, { provider: "other", signIn: {} }],
    ["given another password", { password: "newer" }, { signIn: { credentials: { password: "newer" } } }],
  ])("of an account that is %s meanwhile gives no token to the changed account", async (_, changed, told) => {
    const simulator = simulatorWith();
    const [first, second] = await leases(simulator, 2);
    const answer = await first?.getToken();
    if (answer === undefined || !("signIn" in answer)) throw new Error("no ticket");
    const waiting = second?.getToken();
    simulator.pool.configure({ accounts: [account("a", changed)], limits: { ...LIMITS, perAccount: 200 } });
    await first?.completeSignIn(answer.signIn.ticket, { token: "of-before", expiresAt: 0 });
    expect(await waiting).toMatchObject(told);
    expect(simulator.pool.health()).toMatchObject([{ id: "a", token: null, cooldown: null }]);
  });

  test("replaces a token shortly before it expires", async () => {
    const simulator = simulatorWith();
    const provider = new FakeProvider();
    provider.finish();
    provider.expiresAt = (simulator.now + 60_000) / 1000;
    const [lease] = await leases(simulator, 1);
    if (lease === undefined) throw new Error("no lease");
    await getAccountToken(lease, provider.signIn);
    simulator.advance(29_000);
    expect((await leases(simulator, 1))[0]?.initialToken).toBe("token-1");
    simulator.advance(25_000);
    expect((await leases(simulator, 1))[0]?.initialToken).toBeNull();
  });

  test("keeps tokens after a restart, unless the configuration has a new one", async () => {
    const simulator = simulatorWith({ token: "configured" });
    const provider = new FakeProvider();
    provider.finish();
    const [lease] = await leases(simulator, 1);
    if (lease === undefined) throw new Error("no lease");
    await getAccountToken(lease, provider.signIn, "configured");
    const limits = { ...LIMITS, perAccount: 200 };
    simulator.restart().configure({ accounts: [account("a", { token: "configured" })], limits });
    expect(simulator.pool.health()).toMatchObject([{ id: "a", token: "token-1" }]);
    simulator.restart().configure({ accounts: [account("a", { token: "newer" })], limits });
    expect(simulator.pool.health()).toMatchObject([{ id: "a", token: "newer" }]);
    simulator.pool.configure({ accounts: [account("a", { token: "newest" })], limits });
    expect(simulator.pool.health()).toMatchObject([{ id: "a", token: "newest" }]);
  });
});

describe("periodic refresh", () => {
  const signedInOnce = async (): Promise<PoolSimulator> => {
    const simulator = simulatorWith({}, { tokenRefreshMs: 6 * HOUR });
    const provider = new FakeProvider();
    provider.finish();
    const [lease] = await leases(simulator, 1);
    if (lease === undefined) throw new Error("no lease");
    await getAccountToken(lease, provider.signIn);
    lease.release();
    return simulator;
  };

  test("lets one request renew an old token while others use it", async () => {
    const simulator = await signedInOnce();
    simulator.advance(6 * HOUR - 1);
    expect(simulator.pool.tokensDueForRefresh()).toEqual([]);
    simulator.advance(1);
    expect(simulator.pool.tokensDueForRefresh()).toEqual(["a"]);
    const [first, second] = await leases(simulator, 2);
    expect(await first?.getToken()).toMatchObject({ signIn: { current: "token-1" } });
    expect(await second?.getToken()).toMatchObject({ token: "token-1" });
    expect((await leases(simulator, 1))[0]?.initialToken).toBe("token-1");
  });

  test("keeps the old token after a failed refresh, and retries later", async () => {
    const simulator = await signedInOnce();
    simulator.advance(7 * HOUR);
    const provider = new FakeProvider();
    provider.finish();
    provider.failure = new ProviderError("invalid_credentials", "wrong password", { status: 401 });
    const [lease] = await leases(simulator, 1);
    if (lease === undefined) throw new Error("no lease");
    expect(await getAccountToken(lease, provider.signIn)).toBe("token-1");
    expect(simulator.pool.status().cooldowns).toEqual([]);
    expect((await leases(simulator, 1))[0]?.initialToken).toBe("token-1");
    simulator.advance(300_000);
    expect(simulator.pool.tokensDueForRefresh()).toEqual(["a"]);
  });
});

describe("account health", () => {
  test("includes stored test results, and only configured accounts", () => {
    const simulator = simulatorWith({ token: "t" });
    simulator.pool.setTestStatus("a", "ok");
    simulator.pool.setTestStatus("nobody", "ok");
    simulator.restart().configure({ accounts: [account("a", { token: "t" })], limits: LIMITS });
    const none = { requests: 0, succeeded: 0 };
    const activity = { inFlight: 0, lastUsed: 0, lastSuccess: 0, lastFault: null, hour: none, day: none };
    expect(simulator.pool.health(["a", "nobody"])).toEqual([
      { id: "a", token: "t", testStatus: "ok", condition: "ok", cooldown: null, quotas: [], activity },
    ]);
  });
});
