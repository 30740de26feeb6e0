import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FORGET_MS, LoginGuard } from "../../../../src/core/auth/login-guard.ts";
import { createInProcessAdministration } from "../../../../src/runtime/deno/administration.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

describe("the login guard", () => {
  it("allows ten attempts, then requires pauses that double up to five minutes", () => {
    const guard = new LoginGuard();
    let now = 0;
    for (let attempt = 0; attempt < 10; attempt += 1) expect(guard.attempt(now)).toEqual({ allowed: true });
    const pauses: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      const decision = guard.attempt(now);
      if (decision.allowed) throw new Error("an attempt passed during the pause");
      pauses.push(decision.waitSeconds);
      now += decision.waitSeconds * 1000;
      expect(guard.attempt(now)).toEqual({ allowed: true });
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it("does not count a success, and forgets the failures before it after 15 minutes", () => {
    const guard = new LoginGuard({ count: 30, lastAt: 0, blockedUntil: 1_000 });
    expect(guard.attempt(999).allowed).toBe(false);
    for (const now of [1_000, 1_001, FORGET_MS - 1]) {
      expect(guard.attempt(now).allowed).toBe(true);
      guard.succeeded();
      expect(guard.failures).toMatchObject({ count: 30, lastAt: 0 });
    }
    guard.attempt(FORGET_MS);
    expect(guard.failures?.count).toBe(1);
    guard.succeeded();
    expect(guard.failures).toBeNull();
  });

  it("does not reset a guesser's failures when another person at the same address succeeds", () => {
    const guard = new LoginGuard();
    let guesses = 0;
    for (let now = 0; now < 3_600_000; now += 1_000) {
      if (guard.attempt(now).allowed) guard.succeeded();
      if (guard.attempt(now).allowed) guesses += 1;
    }
    expect(guesses).toBeLessThanOrEqual(30);
  });

  it("limits the guesses in an hour, whenever they arrive", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 400 }), (gaps) => {
        const guard = new LoginGuard();
        let now = 0;
        let passed = 0;
        for (const gap of gaps) {
          now += gap;
          if (now > 3_600_000) break;
          // A guesser who goes on within the quarter of an hour is never forgotten.
          if (guard.attempt(now).allowed) passed += 1;
        }
        expect(passed).toBeLessThanOrEqual(30);
      }),
    );
  });

  it("counts each address separately in one process", async () => {
    const state = createInProcessAdministration(memoryDatabase(), () => 0);
    for (let attempt = 0; attempt < 10; attempt += 1) await state.recordLoginAttempt("a", 10);
    expect((await state.recordLoginAttempt("a", 10)).allowed).toBe(false);
    expect((await state.recordLoginAttempt("b", 10)).allowed).toBe(true);
    await state.recordLoginSuccess("b");
    expect((await state.recordLoginAttempt("a", 10)).allowed).toBe(false);
  });

  it("remembers the latest ten thousand addresses", async () => {
    const state = createInProcessAdministration(memoryDatabase(), () => 0);
    for (let attempt = 0; attempt < 10; attempt += 1) await state.recordLoginAttempt("a", 10);
    const others = async (count: number, kind: string) => {
      for (let n = 0; n < count; n += 1) await state.recordLoginAttempt(`${kind}${n}`, 10);
    };
    await others(9_999, "b");
    expect((await state.recordLoginAttempt("a", 10)).allowed).toBe(false);
    await others(10_000, "c");
    expect((await state.recordLoginAttempt("a", 10)).allowed).toBe(true);
  });
});
