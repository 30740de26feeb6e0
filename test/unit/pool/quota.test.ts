import { describe, expect, test } from "vitest";
import type { QuotaWindow } from "../../../src/core/ports/accounts.ts";
import { failure } from "../../support/failures.ts";
import { configuration, Rig } from "./rig.ts";

const HOUR_MS = 3_600_000;

function rigOf(): Rig {
  const rig = new Rig();
  rig.pool.configure(configuration(["a", "b"], { perAccount: 10 }));
  for (const target of ["a", "b"]) {
    const { lease } = rig.grant({ target });
    rig.pool.succeeded(lease);
    rig.pool.release(lease);
  }
  return rig;
}

const exhausted = (rig: Rig, more: Partial<QuotaWindow> = {}): QuotaWindow => ({
  name: "5h",
  remaining: 0,
  isExhausted: true,
  resetsAt: rig.now + 5 * HOUR_MS,
  isOfModel: false,
  ...more,
});

/** The accounts of four requests. */
function accountsOf(rig: Rig, model: string): Set<string> {
  return new Set(
    Array.from({ length: 4 }, () => {
      const { account, lease } = rig.grant({ model });
      rig.pool.release(lease);
      return account.id;
    }),
  );
}

describe("an account whose quota is used up", () => {
  test("gets no requests until the quota begins anew, although it has refused none", () => {
    const rig = rigOf();
    const { lease } = rig.grant({ target: "a" });
    rig.pool.recordQuota(lease, [exhausted(rig)]);
    rig.pool.succeeded(lease);
    rig.pool.release(lease);
    expect(accountsOf(rig, "m")).toEqual(new Set(["b"]));
    const until = rig.now + 5 * HOUR_MS;
    expect(rig.pool.status().cooldowns).toMatchObject([
      { account: "a", kind: "rate_limited", until, reason: expect.stringContaining("5h") },
    ]);
    rig.advance(5 * HOUR_MS - 1);
    expect(accountsOf(rig, "m")).toEqual(new Set(["b"]));
    rig.advance(1);
    expect(accountsOf(rig, "m")).toEqual(new Set(["a", "b"]));
  });

  test("serves other models if the quota is that of one model", () => {
    const rig = rigOf();
    const { lease } = rig.grant({ target: "a", model: "large" });
    rig.pool.recordQuota(lease, [exhausted(rig, { isOfModel: true })]);
    rig.pool.failed(lease, failure("rate_limited"));
    rig.pool.release(lease);
    expect(accountsOf(rig, "large")).toEqual(new Set(["b"]));
    expect(accountsOf(rig, "small")).toEqual(new Set(["a", "b"]));
    rig.advance(5 * HOUR_MS);
    expect(accountsOf(rig, "large")).toEqual(new Set(["a", "b"]));
  });

  test("is used all the same when no other account is left for the model", () => {
    const rig = rigOf();
    for (const target of ["a", "b"]) {
      const { lease } = rig.grant({ target, model: "large" });
      rig.pool.recordQuota(lease, [exhausted(rig, { isOfModel: true })]);
      rig.pool.release(lease);
    }
    expect(accountsOf(rig, "large")).toEqual(new Set(["a", "b"]));
  });

  test("is back as soon as the provider says that something is left", () => {
    const rig = rigOf();
    const { lease } = rig.grant({ target: "a" });
    rig.pool.recordQuota(lease, [exhausted(rig)]);
    rig.pool.recordQuota(lease, [exhausted(rig, { isExhausted: false, remaining: 0.9 })]);
    rig.pool.release(lease);
    expect(accountsOf(rig, "m")).toEqual(new Set(["a", "b"]));
  });

  test("waits as long as a refusal states, beyond a quarter of an hour", () => {
    const rig = rigOf();
    const { lease } = rig.grant({ target: "a" });
    rig.pool.failed(lease, { ...failure("rate_limited"), retryAfter: 5 * 3_600 });
    rig.pool.release(lease);
    rig.advance(5 * HOUR_MS - 1);
    expect(accountsOf(rig, "m")).toEqual(new Set(["b"]));
  });
});
