import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FORGET_MS, LoginGuard } from "../../../src/auth/login-guard.ts";
import { administrationInProcess } from "../../../src/platform/deno/administration.ts";

describe("the login guard", () => {
  it("lets ten attempts pass, then asks for pauses that double up to five minutes", () => {
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

  it("forgets after a success, and after a quarter of an hour of silence", () => {
    const guard = new LoginGuard({ count: 30, lastAt: 0, blockedUntil: 1_000 });
    expect(guard.attempt(999).allowed).toBe(false);
    guard.succeeded();
    expect([guard.failures, guard.attempt(999).allowed]).toEqual([null, true]);
    const quiet = new LoginGuard({ count: 30, lastAt: 0, blockedUntil: 0 });
    quiet.attempt(FORGET_MS);
    expect(quiet.failures?.count).toBe(1);
  });

  it("allows no more guesses in an hour than the pauses leave room for, whenever they come", () => {
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

  it("counts each address for itself in one process", async () => {
    const state = administrationInProcess(() => 0);
    for (let attempt = 0; attempt < 10; attempt += 1) await state.loginAttempt("a");
    expect((await state.loginAttempt("a")).allowed).toBe(false);
    expect((await state.loginAttempt("b")).allowed).toBe(true);
    await state.loginSucceeded("a");
    expect((await state.loginAttempt("a")).allowed).toBe(true);
  });
});
