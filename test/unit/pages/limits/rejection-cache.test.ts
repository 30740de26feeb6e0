import { describe, expect, test } from "vitest";
import { RateWindow } from "../../../../src/pages/limits/rate-window.ts";
import { RejectionCache } from "../../../../src/pages/limits/rejection-cache.ts";

const LIMIT = 3;

/** A client of an isolate that asks a window, unless it need not. */
function isolate() {
  const window = new RateWindow();
  const refused = new RejectionCache();
  let asked = 0;
  const take = (now: number, calls = 1) => {
    const known = refused.getRejection("client", now);
    if (known !== null) return known;
    asked += 1;
    const decision = window.take(now, LIMIT, calls);
    refused.remember("client", decision, now);
    return decision;
  };
  return { take, asked: () => asked };
}

describe("a client who is refused", () => {
  test("gets repeated refusals with the remaining time, without asking the counter again", () => {
    const { take, asked } = isolate();
    for (const now of [0, 10, 20]) expect(take(now).allowed).toBe(true);
    expect(take(500)).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 60 });
    for (let now = 510; now < 59_400; now += 10) expect(take(now).allowed).toBe(false);
    expect(asked()).toBe(4);
    expect(take(30_500).resetSeconds).toBe(30);
  });

  test("is allowed at the same millisecond as without the cache", () => {
    for (let first = 0; first < 2_000; first += 97) {
      const { take } = isolate();
      const alone = new RateWindow();
      const times = [first, first + 300, first + 400];
      for (let now = first + 900; now < first + 121_000; now += 333) times.push(now);
      times.push(first + 59_999, first + 60_000);
      for (const now of times.sort((one, other) => one - other)) {
        expect([now, take(now).allowed]).toEqual([now, alone.take(now, LIMIT).allowed]);
      }
    }
  });

  test("for several calls at once can still make a single one", () => {
    const { take } = isolate();
    expect(take(0, 2).allowed).toBe(true);
    expect(take(1, 2).allowed).toBe(false);
    expect(take(2).allowed).toBe(true);
  });

  test("is not locked out if a clock is set back", () => {
    const { take, asked } = isolate();
    for (const now of [100_000, 100_000, 100_000, 100_001]) take(now);
    expect(take(1_000).allowed).toBe(true);
    expect(asked()).toBe(5);
  });

  test("is forgotten when a thousand others have been refused later", () => {
    const refused = new RejectionCache();
    const decision = { allowed: false, limit: 3, remaining: 0, resetSeconds: 60 };
    for (let n = 0; n <= 1_000; n += 1) refused.remember(`client ${n}`, decision, 0);
    expect(refused.getRejection("client 0", 1)).toBeNull();
    expect(refused.getRejection("client 1", 1)).toEqual(decision);
  });
});
