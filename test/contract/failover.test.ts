import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Nobody listens there. */
const DEAD = { host: "127.0.0.1", port: 9 };
const SICK = ["wrong@sandbox.test", "unreachable@sandbox.test", "token:8138cf443c5f097f"];

const api = useAdmin({
  vars: {
    GATEWAY_CONFIG_WRITEBACK: "true",
    GATEWAY_CONFIG_JSON: JSON.stringify({
      keys: ["sk-dev"],
      accounts: [
        { email: "wrong@sandbox.test", password: "not the password" },
        { email: "unreachable@sandbox.test", password: "sandbox", proxy_id: "dead" },
        { token: "sandbox-token-expired" },
        { email: "well@sandbox.test", password: "sandbox" },
      ],
      proxies: [{ id: "dead", type: "http", ...DEAD }],
      runtime: { account_max_queue: 1_000 },
      history: { limit: 1_000 },
    }),
  },
});

/** The shortest cooldown, milliseconds; each that follows it lasts twice as long. */
const FIRST_COOLDOWN_MS = 5_000;

/** When the first request was sent, how many were, and how many had no answer: in CI the first test may have a second try. */
let from = 0;
let asked = 0;
let failed = 0;

interface Record {
  readonly account: string;
  readonly status: string;
  readonly tried: readonly { readonly account: string; readonly reason: string }[];
}

describe("one wrong password, one dead proxy, one refused token, and one healthy account", () => {
  // A thousand of them: test/unit/gateway/accounts/failover.test.ts.
  it("answer every request", async () => {
    const statuses = new Map<number, number>();
    const ask = async () => {
      const response = await api.chat("[[say:ok]]");
      await response.body?.cancel();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      asked += 1;
      if (!response.ok) failed += 1;
    };
    from ||= performance.now();
    for (let round = 0; round < 6; round += 1) await Promise.all(Array.from({ length: 50 }, ask));
    expect([...statuses]).toEqual([[200, 300]]);
  });

  it("cost a few attempts, which the records name", async () => {
    const list = async (): Promise<readonly Record[]> => {
      const { body } = await api.admin("GET", "/admin/chat-history?page_size=1000");
      return Object(body["items"]);
    };
    const records = await until(
      list,
      (all) => all.length === asked && all.every(({ status }) => status !== "streaming"),
    );
    const tried = records.flatMap((record) => record.tried);
    expect(new Set(tried.map(({ account }) => account))).toEqual(new Set(SICK));
    const periods = 1 + Math.floor(Math.log2(1 + (performance.now() - from) / FIRST_COOLDOWN_MS));
    for (const sick of SICK) {
      const attempts = tried.filter(({ account }) => account === sick);
      expect(attempts.length, `attempts with ${sick}`).toBeLessThanOrEqual(3 * periods);
    }
    expect(new Set(records.map(({ account }) => account))).toEqual(new Set(["well@sandbox.test"]));
  });

  it("show their last failures and successes", async () => {
    const { body } = await api.admin("GET", "/admin/accounts");
    const items: readonly {
      readonly activity: { readonly last_hour: object; readonly last_fault: object };
    }[] = Object(body["items"]);
    expect(items.slice(0, 3).map(({ activity }) => activity.last_fault)).toMatchObject([
      { kind: "invalid_credentials", fault: "account" },
      { kind: "unreachable", fault: "proxy" },
      { kind: "invalid_credentials", fault: "account" },
    ]);
    expect(items[3]?.activity.last_hour).toMatchObject({ succeeded: asked - failed });
    // However much time has passed, and with it the shortest of the cooldowns.
    const status = (await api.admin("GET", "/admin/queue/status")).body;
    const cooling: readonly unknown[] = Object(status["cooldowns"]);
    expect(cooling.length).toBeGreaterThan(0);
    expect(status).toMatchObject({ available: 4, ready: 4 - cooling.length });
  });

  it("are reported to a caller who pins the account", async () => {
    const outcomes: unknown[] = [];
    for (const account of SICK) {
      const response = await api.chat("x", {}, { "x-gateway-target-account": account });
      const { error }: { error?: { code: string } } = await response.json();
      outcomes.push([response.status, error?.code]);
    }
    expect(outcomes).toEqual([
      [401, "account_login_failed"],
      [503, "upstream_unavailable"],
      [401, "account_login_failed"],
    ]);
  });

  it("can be disabled, and stay listed", async () => {
    const path = "/admin/accounts/wrong@sandbox.test";
    expect((await api.admin("PUT", path, { disabled: true, weight: 5 })).status).toBe(200);
    const { body } = await api.admin("GET", "/admin/accounts");
    expect(Object(body["items"])[0]).toMatchObject({ disabled: true, weight: 5 });
    const pinned = await api.chat("x", {}, { "x-gateway-target-account": "wrong@sandbox.test" });
    expect(pinned.status).toBe(429);
    await pinned.body?.cancel();
    expect((await api.admin("PUT", path, { weight: 0 })).status).toBe(400);
  });
});
