import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientKey } from "../../../../src/core/http/client-key.ts";
import { RateWindow } from "../../../../src/pages/limits/rate-window.ts";

describe("the rate limit of a client", () => {
  it("allows calls up to the limit, then states when the next call is allowed", () => {
    const window = new RateWindow();
    for (let call = 0; call < 100; call++) {
      expect(window.take(1_000 + call, 100)).toMatchObject({ allowed: true, remaining: 99 - call });
    }
    expect(window.take(31_000, 100)).toEqual({ allowed: false, limit: 100, remaining: 0, resetSeconds: 30 });
    expect(window.take(60_999, 100).allowed).toBe(false);
    expect(window.take(61_000, 100).allowed).toBe(true);
  });

  it("counts several calls together, all of them or none", () => {
    const window = new RateWindow();
    expect(window.take(1_000, 10, 7)).toMatchObject({ allowed: true, remaining: 3 });
    expect(window.take(1_000, 10, 4)).toMatchObject({ allowed: false, remaining: 3 });
    expect(window.take(1_000, 10, 3)).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.take(61_000, 10, 10)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it("never allows more than the limit in any minute, and allows the next call at the stated time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }),
        (limit, gaps) => {
          const window = new RateWindow();
          const allowed: number[] = [];
          let now = 1_000_000;
          for (const gap of gaps) {
            now += gap;
            const { allowed: yes, resetSeconds } = window.take(now, limit);
            if (yes) allowed.push(now);
            else {
              expect(new RateWindow(window.calls).take(now + resetSeconds * 1_000, limit).allowed).toBe(true);
              expect(
                new RateWindow(window.calls).take(now + resetSeconds * 1_000 - 1_001, limit).allowed,
              ).toBe(false);
            }
          }
          for (const start of allowed) {
            expect(allowed.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(
              limit,
            );
          }
        },
      ),
    );
  });

  it("continues from the stored calls of an earlier window", () => {
    const first = new RateWindow();
    for (let call = 0; call < 3; call++) first.take(5_000, 3);
    expect(new RateWindow(first.calls).take(6_000, 3).allowed).toBe(false);
    expect(first.expiresAt).toBe(65_000);
  });

  it("does not lock a client out when the clock is set back", () => {
    const window = new RateWindow();
    window.take(10_000_000, 1);
    expect(window.take(5_000, 1).allowed).toBe(true);
  });
});

describe("the network that a client is counted by", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["", "unknown"],
    ["not an address", "unknown"],
  ])("is derived from the address: %j is %j", (address, key) => {
    expect(clientKey(address)).toBe(key);
  });

  it("differs between neighbouring networks", () => {
    expect(clientKey("2001:db8:1:2::1")).not.toBe(clientKey("2001:db8:1:3::1"));
  });
});
