import { describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../../src/core/units.ts";
import { normalizeRange, selectTable } from "../../../../src/records/usage/time-range.ts";

const now = Date.UTC(2026, 10, 22, 10, 30);
const today = Date.UTC(2026, 10, 22);

describe("the range of a query", () => {
  it("is today and the seven days before, by day, unless stated otherwise", () => {
    expect(normalizeRange({}, now)).toEqual({
      from: today - 7 * DAY_MS,
      to: today + DAY_MS,
      granularity: "day",
    });
  });

  it("is divided into hours if it is short", () => {
    expect(normalizeRange({ from: now - 2 * HOUR_MS }, now)).toEqual({
      from: today + 8 * HOUR_MS,
      to: today + 11 * HOUR_MS,
      granularity: "hour",
    });
  });

  it("is in whole days if hours are no longer stored", () => {
    const range = normalizeRange({ from: now - 40 * DAY_MS, to: now - 39 * DAY_MS }, now);
    expect(range).toMatchObject({ granularity: "day", from: today - 40 * DAY_MS, to: today - 38 * DAY_MS });
    const total = normalizeRange(
      { from: now - 40 * DAY_MS, to: now - 39 * DAY_MS, granularity: "total" },
      now,
    );
    expect(typeof total === "string" ? total : selectTable(total)).toBe("day");
  });

  it("is exact to the hour for the total of a short time", () => {
    const range = normalizeRange(
      { from: today + HOUR_MS, to: today + 2 * HOUR_MS, granularity: "total" },
      now,
    );
    expect(typeof range === "string" ? range : selectTable(range)).toBe("hour");
  });

  it.each([
    [{ from: now, to: now }, "before"],
    [{ from: now + 1 }, "before"],
    [{ from: now - 800 * DAY_MS }, "two years"],
    [{ from: now - 40 * DAY_MS, granularity: "hour" }, "35 days"],
  ] as const)("is refused if it is %j", (asked, why) => {
    expect(normalizeRange(asked, now)).toContain(why);
  });
});
