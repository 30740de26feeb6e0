import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { LoginFailures } from "../../src/core/auth/login-guard.ts";

describe("the administration object", () => {
  it("keeps the count of failed attempts in storage, so that a restart does not reset it", async () => {
    const stub = env.ADMINISTRATION.getByName("login 192.0.2.1");
    for (let attempt = 0; attempt < 10; attempt += 1) expect(await stub.attempt()).toEqual({ allowed: true });
    expect(await stub.attempt()).toMatchObject({ allowed: false });
    await runInDurableObject(stub, async (_instance, state) => {
      expect(state.storage.kv.get<LoginFailures>("failures")).toMatchObject({ count: 10 });
      expect(await state.storage.getAlarm()).not.toBeNull();
    });
  });

  it("forgets only the attempt that succeeded", async () => {
    const stub = env.ADMINISTRATION.getByName("login 192.0.2.2");
    for (let attempt = 0; attempt < 9; attempt += 1) await stub.attempt();
    expect(await stub.attempt()).toEqual({ allowed: true });
    await stub.succeeded();
    await runInDurableObject(stub, async (_instance, state) => {
      expect(state.storage.kv.get<LoginFailures>("failures")).toMatchObject({ count: 9 });
    });
    const other = env.ADMINISTRATION.getByName("login 192.0.2.3");
    await other.attempt();
    await other.succeeded();
    await runInDurableObject(other, async (_instance, state) => {
      expect(state.storage.kv.get("failures")).toBeUndefined();
    });
  });

  it("remembers a revoked token until it expires", async () => {
    const stub = env.ADMINISTRATION.getByName("token 01234567");
    expect(await stub.isTokenRevoked()).toBe(false);
    const expiry = Date.now() + 3_600_000;
    await stub.revokeToken(expiry);
    expect(await stub.isTokenRevoked()).toBe(true);
    await runInDurableObject(stub, async (_instance, state) => {
      expect(await state.storage.getAlarm()).toBe(expiry);
    });
    expect(await env.ADMINISTRATION.getByName("token 89abcdef").isTokenRevoked()).toBe(false);
  });

  it("keeps the progress of a test of all accounts", async () => {
    const stub = env.ADMINISTRATION.getByName("account tests");
    expect(await stub.progress()).toBeNull();
    const progress = {
      total: 2,
      done: 1,
      success: 1,
      failed: 0,
      started_at: 1,
      updated_at: 2,
      finished_at: 0,
      failures: [],
    };
    await stub.setProgress(progress);
    expect(await stub.progress()).toEqual(progress);
  });
});
