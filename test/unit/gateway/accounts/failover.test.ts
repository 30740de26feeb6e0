import { describe, expect, test } from "vitest";
import { ProviderError, type ProviderErrorKind } from "../../../../src/core/errors/provider-error.ts";
import { clientDisconnected } from "../../../../src/core/http/client-disconnect.ts";
import { ProxyFailure } from "../../../../src/gateway/upstream/proxy/failure.ts";
import { AccountWork, refusal } from "../../../support/account-work.ts";
import { managed, pass, passThrough, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import type { Reply, UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { refuses } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const FOUR = { accounts: ["a", "b", "c", "d"].map((name) => accountNamed(name)) };
/** One slot in all: who does not give it back gets no other. */
const ONE_SLOT = { ...FOUR, runtime: { account_max_inflight: 1, global_max_inflight: 1 } };
const ALWAYS = { canRetry: (): boolean => true };

const FAULTS: ProviderErrorKind[] = [
  "invalid_credentials",
  "token_expired",
  "account_suspended",
  "rate_limited",
];
/** Of the request, not of any account. */
const REQUEST_FAULTS: ProviderErrorKind[] = [
  "not_found",
  "too_large",
  "invalid_request",
  "context_length",
  "content_filter",
];
const PROVIDER_FAULTS: ProviderErrorKind[] = [
  "model_unavailable",
  "server_error",
  "unreachable",
  "malformed",
  "cut",
  "timeout",
];

describe("an account that the provider refuses", () => {
  test.each(FAULTS)("(%s) is replaced by another one, and cools down", async (kind) => {
    const gateway = await createGateway({ config: ONE_SLOT });
    expect(await new AccountWork(gateway, ALWAYS).failing(refusal(kind))).toBe("b");
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({
      cooldowns: [{ account: "a", kind, failures: 1, reason: `the provider says ${kind}` }],
    });
  });

  test("is replaced by at most two others; then the last refusal is the answer", async () => {
    const gateway = await createGateway({ config: ONE_SLOT });
    const work = new AccountWork(gateway, ALWAYS);
    const refusals = [refusal("rate_limited"), refusal("account_suspended"), refusal("rate_limited")];
    await expect(work.failing(...refusals)).rejects.toBe(refusals[2]);
    expect(work.tokens).toEqual(["a#1", "b#2", "c#3"]);
    const { cooldowns } = await gateway.platform.accounts.getStatus();
    expect(cooldowns.map(({ account }) => account)).toEqual(["a", "b", "c"]);
  });

  test.each(["token_expired", "invalid_credentials"] as const)(
    "because of its credentials (%s) is replaced while another one is healthy",
    async (kind) => {
      const gateway = await createGateway({ config: ONE_SLOT });
      const refusals = [refusal(kind), refusal(kind), refusal(kind)];
      expect(await new AccountWork(gateway, ALWAYS).failing(...refusals)).toBe("d");
    },
  );

  test("is replaced by as many others as the setting allows", async () => {
    const gateway = await createGateway({ config: { ...FOUR, runtime: { account_failovers: 0 } } });
    const work = new AccountWork(gateway, ALWAYS);
    await expect(work.failing(refusal("rate_limited"))).rejects.toMatchObject({ kind: "rate_limited" });
    expect(work.tokens).toHaveLength(1);
  });

  test("as the last one is never reported as a refusal of the caller's key", async () => {
    const gateway = await createGateway({ config: { accounts: FOUR.accounts.slice(0, 2) } });
    const refusals = [refusal("token_expired"), refusal("token_expired")];
    await expect(new AccountWork(gateway, ALWAYS).failing(...refusals)).rejects.toMatchObject({
      kind: "invalid_credentials",
    });
  });

  test("to which the request is pinned is reported as refused", async () => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, { ...ALWAYS, caller: managed("a") });
    await expect(work.failing(refusal("token_expired"))).rejects.toMatchObject({
      kind: "invalid_credentials",
    });
  });

  test("during work that cannot be repeated is reported as suspended while others are healthy", async () => {
    const gateway = await createGateway({ config: FOUR });
    const failed = new AccountWork(gateway).failing(refusal("token_expired"));
    await expect(failed).rejects.toMatchObject({ kind: "account_suspended" });
  });

  test("is not reported if another account got a failure of the provider itself", async () => {
    const gateway = await createGateway({ config: { accounts: FOUR.accounts.slice(0, 2) } });
    const work = new AccountWork(gateway, ALWAYS);
    const failures = [refusal("server_error"), refusal("invalid_credentials")];
    await expect(work.failing(...failures)).rejects.toBe(failures[0]);
  });

  test.each([
    ["nothing says that the work may be repeated", {}],
    ["the work may not be repeated any more", { canRetry: (): boolean => false }],
    ["the request is pinned to it", { ...ALWAYS, caller: managed("a") }],
  ])("is not replaced when %s, but cools down", async (_, request) => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, request);
    await expect(work.failing(refusal("rate_limited"))).rejects.toMatchObject({ kind: "rate_limited" });
    expect(work.tokens).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [{ account: "a" }] });
  });

  test("in pass-through mode is the caller's own: no other account is tried or blamed", async () => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, { ...ALWAYS, caller: passThrough() });
    await expect(work.failing(refusal("rate_limited"))).rejects.toMatchObject({ kind: "rate_limited" });
    expect(work.tokens).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test("is replaced only if the work can still be repeated", async () => {
    const gateway = await createGateway({ config: FOUR });
    let said = 0;
    const work = new AccountWork(gateway, { canRetry: (): boolean => said < 2 });
    const done = work.with(async () => {
      said += 1;
      throw refusal("rate_limited");
    });
    await expect(done).rejects.toMatchObject({ kind: "rate_limited" });
    expect(said).toBe(2);
  });

  test("starts to count failures anew after a success", async () => {
    const gateway = await createGateway({ config: { accounts: [accountNamed("a")] } });
    await expect(new AccountWork(gateway).failing(refusal("rate_limited"))).rejects.toThrow();
    await pass(5_000);
    await new AccountWork(gateway).failing();
    await expect(new AccountWork(gateway).failing(refusal("rate_limited"))).rejects.toThrow();
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [{ failures: 1 }] });
  });
});

describe("one wrong password, one dead proxy, one refused token, and one account that is well", () => {
  const SICK = ["wrong", "unreachable", "token:83c874d33e8bff73"];
  const config = {
    accounts: [
      accountNamed("wrong"),
      { ...accountNamed("unreachable"), proxy_id: "dead" },
      { token: "refused" },
      accountNamed("well"),
    ],
    proxies: [{ id: "dead", type: "http" as const, host: "proxy.test", port: 1 }],
    runtime: { account_max_queue: 1_000 },
  };
  const other = (asked: UpstreamRequest): Reply | undefined => {
    if (asked.proxy !== null) throw new ProxyFailure("proxy", "the proxy cannot be reached");
    if (asked.token === "refused") return refuses(401, "token_expired");
    const wrong = asked.path === "/api/login" && asked.json()["email"] === "wrong";
    return wrong ? refuses(401, "invalid_credentials") : undefined;
  };

  test.each([2, 20])(
    "(%i slots each) are 1,000 answers to 1,000 requests, with few attempts at the others",
    async (slots) => {
      const runtime = { ...config.runtime, account_max_inflight: slots };
      const gateway = await createGateway({ config: { ...config, runtime }, other });
      const tried: string[] = [];
      const onLeft = (account: string) => tried.push(account);
      const ask = () =>
        new AccountWork(gateway, { ...ALWAYS, onAccountFailed: onLeft }).with((session) =>
          session.runWithToken(async ({ fetch, token }) => {
            const headers = { authorization: `Bearer ${token}` };
            const { status } = await fetch("http://upstream.test/api/account", { headers });
            if (status !== 200) throw refusal("token_expired");
            return session.accountId;
          }),
        );
      const answers: string[] = [];
      for (let round = 0; round < 20; round += 1) {
        const work = Promise.all(Array.from({ length: 50 }, ask));
        await pass(1);
        answers.push(...(await work));
      }
      expect(answers).toEqual(Array(1_000).fill("well"));
      for (const sick of SICK) {
        const attempts = tried.filter((account) => account === sick);
        expect(attempts.length, sick).toBeGreaterThan(0);
        expect(attempts.length, sick).toBeLessThanOrEqual(3);
      }
      expect(new Set(tried)).toEqual(new Set(SICK));
    },
  );
});

describe("a failure", () => {
  test.each(REQUEST_FAULTS)("of the request (%s) goes to no other account and blames none", async (kind) => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, ALWAYS);
    await expect(work.failing(refusal(kind))).rejects.toMatchObject({ kind });
    expect(work.tokens).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test("that means a missing model goes to no other account and blames none", async () => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, ALWAYS);
    const missing = new ProviderError("model_unavailable", "no such model", { status: 404 });
    await expect(work.failing(missing)).rejects.toBe(missing);
    expect(work.tokens).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test.each(PROVIDER_FAULTS)(
    "of the provider (%s) goes to two other accounts and blames none",
    async (kind) => {
      const gateway = await createGateway({ config: FOUR });
      const work = new AccountWork(gateway, ALWAYS);
      expect(await work.failing(refusal(kind), refusal(kind))).toBe("c");
      const more = new AccountWork(gateway, ALWAYS);
      const failures = [refusal(kind), refusal(kind), refusal(kind)];
      await expect(more.failing(...failures)).rejects.toBe(failures[2]);
      expect(more.tokens).toHaveLength(3);
      expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
    },
  );

  test.each(PROVIDER_FAULTS)(
    "of the provider (%s) goes to no other account if the work cannot be repeated",
    async (kind) => {
      const gateway = await createGateway({ config: FOUR });
      const work = new AccountWork(gateway);
      await expect(work.failing(refusal(kind))).rejects.toMatchObject({ kind });
      expect(work.tokens).toHaveLength(1);
    },
  );

  test("may go to another account if the operation allows it", async () => {
    const gateway = await createGateway({ config: ONE_SLOT });
    const empty = new Error("empty");
    const asked: unknown[] = [];
    const wantsAnother = (failure: unknown) => asked.push(failure) === 1;
    expect(await new AccountWork(gateway, { shouldTryAnotherAccount: wantsAnother }).failing(empty)).toBe(
      "b",
    );
    const stubborn = new AccountWork(gateway, { shouldTryAnotherAccount: wantsAnother });
    await expect(stubborn.failing(empty)).rejects.toBe(empty);
    expect(asked).toEqual([empty, empty]);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ cooldowns: [] });
  });

  test.each([
    ["is pinned", managed("a")],
    ["brings its own token", passThrough()],
  ])("goes to no other account when the request %s", async (_, caller) => {
    const gateway = await createGateway({ config: FOUR });
    const empty = new Error("empty");
    const work = new AccountWork(gateway, { caller, shouldTryAnotherAccount: () => true });
    await expect(work.failing(empty)).rejects.toBe(empty);
  });
});

describe("without another available account", () => {
  test("the answer is the first failure, not the lack of accounts", async () => {
    const gateway = await createGateway({ config: { accounts: [accountNamed("a")] } });
    const refused = refusal("rate_limited");
    await expect(new AccountWork(gateway, ALWAYS).failing(refused)).rejects.toBe(refused);
  });

  test("the answer is the first failure also after waiting", async () => {
    const gateway = await createGateway({
      config: { accounts: FOUR.accounts.slice(0, 2), runtime: { account_max_inflight: 1 } },
    });
    const busy = new AccountWork(gateway, { caller: managed("b") }).lasting(90_000);
    await pass(1);
    const refused = refusal("rate_limited");
    const failed = expect(new AccountWork(gateway, ALWAYS).failing(refused)).rejects.toBe(refused);
    await pass(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 1, in_use: 1 });
    await pass(90_000);
    await failed;
    expect(await busy).toBe("b");
  });

  test("a departure of the client meanwhile is reported as such", async () => {
    const gateway = await createGateway({
      config: { accounts: FOUR.accounts.slice(0, 2), runtime: { account_max_inflight: 1 } },
    });
    const busy = new AccountWork(gateway, { caller: managed("b") }).lasting(30_000);
    await pass(1);
    const work = new AccountWork(gateway, ALWAYS);
    const failed = expect(work.failing(refusal("rate_limited"))).rejects.toMatchObject({ status: 499 });
    await pass(1);
    work.abort.abort(clientDisconnected());
    await failed;
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 0 });
    await pass(30_000);
    await busy;
  });
});

describe("a request that gets no account", () => {
  const BUSY = { accounts: [accountNamed("a")], runtime: { account_max_inflight: 1 } };
  const refused = (code: string) => ({ status: 429, code, headers: {} });

  test("because none is configured states this", async () => {
    const gateway = await createGateway({ config: { accounts: [] } });
    await expect(new AccountWork(gateway).failing()).rejects.toMatchObject(
      refused("concurrency_limit_exceeded"),
    );
  });

  test("because it is pinned to a missing one names that account", async () => {
    const gateway = await createGateway();
    await expect(new AccountWork(gateway, { caller: managed("nobody") }).failing()).rejects.toMatchObject({
      ...refused("target_account_not_found"),
      message: expect.stringContaining("nobody"),
    });
  });

  test("because too many wait fails at once", async () => {
    const gateway = await createGateway({ config: BUSY });
    const busy = new AccountWork(gateway).lasting(10_000);
    await pass(1);
    const waiting = new AccountWork(gateway).failing();
    await pass(1);
    await expect(new AccountWork(gateway).failing()).rejects.toMatchObject(
      refused("concurrency_limit_exceeded"),
    );
    await pass(10_000);
    await Promise.all([busy, waiting]);
  });

  test("before its maximum wait ends fails then", async () => {
    const gateway = await createGateway({ config: BUSY });
    const busy = new AccountWork(gateway).lasting(90_000);
    await pass(1);
    const work = new AccountWork(gateway);
    const failed = expect(work.failing()).rejects.toMatchObject(refused("concurrency_limit_exceeded"));
    await pass(59_999);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 1 });
    await pass(1);
    await failed;
    expect(work.context.facts.queueMs).toBe(60_000);
    await pass(30_000);
    await busy;
  });

  test("because its client left leaves the queue to the next request", async () => {
    const gateway = await createGateway({
      config: { ...BUSY, runtime: { account_max_inflight: 1, account_max_queue: 5 } },
    });
    const busy = new AccountWork(gateway).lasting(10_000);
    await pass(1);
    const leaving = new AccountWork(gateway);
    const failed = expect(leaving.failing()).rejects.toMatchObject({
      status: 499,
      code: "request_cancelled",
    });
    const next = new AccountWork(gateway).failing();
    await pass(1_000);
    leaving.abort.abort(clientDisconnected());
    await failed;
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 1 });
    await pass(10_000);
    expect(await Promise.all([busy, next])).toEqual(["a", "a"]);
  });
});

describe("a client that leaves during the work", () => {
  test("blames no account, and no other is tried", async () => {
    const gateway = await createGateway({ config: FOUR });
    const work = new AccountWork(gateway, ALWAYS);
    const done = work.with(async () => {
      work.abort.abort(clientDisconnected());
      throw refusal("account_suspended");
    });
    await expect(done).rejects.toMatchObject({ kind: "account_suspended" });
    expect(work.tokens).toHaveLength(1);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0, cooldowns: [] });
  });
});
