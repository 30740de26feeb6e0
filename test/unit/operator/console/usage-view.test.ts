import { describe, expect, it } from "vitest";
import {
  buildSeries,
  findPeriod,
  findPeriodBefore,
  formatChange,
  formatView,
  parseView,
} from "../../../../src/operator/console/pages/usage/usage-view.ts";
import { displayName } from "../../../../src/operator/console/shared/usage-names.ts";
import { formatCost, formatShare } from "../../../../src/operator/console/ui/format.ts";
import { NO_USAGE } from "./no-usage.ts";

const NOW = Date.UTC(2026, 10, 22, 10, 30);
const HOUR = 3_600_000;

describe("the view of usage", () => {
  it("is written to the address and read back", () => {
    const view = parseView("days=30&by=model&key=key_1&colour=red");
    expect(view).toEqual({ range: 30, by: "model", sort: "requests", filters: { key: "key_1" } });
    expect(parseView(formatView(view))).toEqual(view);
    const byCost = formatView(view, { sort: "cost" });
    expect(parseView(byCost)).toEqual({ ...view, sort: "cost" });
    const chosen = parseView("from=2026-11-01&to=2026-11-03");
    expect(chosen.range).toEqual({ from: "2026-11-01", to: "2026-11-03" });
    expect(parseView(formatView(chosen))).toEqual(chosen);
    expect(parseView(formatView(view, { filters: { key: null, account: "a b&c" } })).filters).toEqual({
      account: "a b&c",
    });
  });

  it("shows the last week by key if the address is invalid", () => {
    const standard = { range: 7, by: "key", sort: "requests", filters: {} };
    expect(parseView("days=12&by=colour")).toEqual(standard);
    expect(parseView("from=2026-11-03&to=2026-11-01")).toEqual(standard);
    expect(parseView("from=2026-13-45&to=2026-11-01")).toEqual(standard);
    expect(parseView("from=2026-11-01")).toEqual(standard);
  });

  it("is limited to the time that the gateway stores", () => {
    expect(parseView("from=1999-01-01&to=2026-11-01").range).toEqual({
      from: "2024-11-01",
      to: "2026-11-01",
    });
  });

  it("begins the chosen number of hours or days ago, including the current one", () => {
    expect(findPeriod(parseView("days=1"), NOW)).toEqual({
      from: Date.UTC(2026, 10, 21, 11),
      to: NOW,
      unit: "hour",
    });
    expect(findPeriod(parseView("days=30"), NOW).from).toBe(Date.UTC(2026, 9, 24));
  });

  it("contains all chosen days, until now at the latest", () => {
    const past = findPeriod(parseView("from=2026-11-01&to=2026-11-03"), NOW);
    expect(past).toEqual({ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 4), unit: "hour" });
    const present = findPeriod(parseView("from=2026-11-01&to=2026-11-30"), NOW);
    expect(present).toEqual({ from: Date.UTC(2026, 10, 1), to: NOW, unit: "day" });
    // Hours of that time are not kept any more.
    expect(findPeriod(parseView("from=2026-01-01&to=2026-01-02"), NOW).unit).toBe("day");
  });

  it("is compared with the same length of time before", () => {
    const periodBefore = (query: string) => {
      const view = parseView(query);
      const { from, to } = findPeriodBefore(view, findPeriod(view, NOW));
      return [new Date(from).toISOString(), new Date(to).toISOString()];
    };
    expect(periodBefore("days=1")).toEqual(["2026-11-20T11:00:00.000Z", "2026-11-21T10:30:00.000Z"]);
    expect(periodBefore("from=2026-11-01&to=2026-11-03")).toEqual([
      "2026-10-29T00:00:00.000Z",
      "2026-11-01T00:00:00.000Z",
    ]);
    expect([formatChange(3, 2), formatChange(1, 2), formatChange(2, 2), formatChange(1, 0)]).toEqual([
      "+50%",
      "−50%",
      "±0%",
      "",
    ]);
  });

  it("has a value for each hour: 0 for counts without usage, and unknown for durations", () => {
    const item = { at: NOW - (NOW % HOUR), requests: 3, duration_ms: { p50: 5, p95: 6, p99: 7 } };
    const series = buildSeries([{ ...NO_USAGE, ...item }], {
      from: item.at - 2 * HOUR,
      to: NOW,
      unit: "hour",
    });
    expect(series.times).toHaveLength(3);
    expect(series.count(({ requests }) => requests)).toEqual([0, 0, 3]);
    expect(series.pick(({ duration_ms }) => duration_ms?.p50 ?? null)).toEqual([null, null, 5]);
  });

  it("shows names, shares and costs in a readable form", () => {
    const key = new Map([
      ["key_1", "Ada"],
      ["key_2", ""],
    ]);
    const provider = new Map([["sessions", "House engine"]]);
    const names = { key, provider };
    expect(["key_1", "key_2", "key_3", ""].map((id) => displayName("key", id, names))).toEqual([
      "Ada",
      "key_2",
      "key_3",
      "no known key (a wrong one, or a token of the provider)",
    ]);
    expect(displayName("provider", "sessions", names)).toBe("House engine");
    expect(displayName("dialect", "messages", names)).toBe("Anthropic messages");
    expect([formatShare(0, 0), formatShare(1, 300), formatShare(1, 2)]).toEqual(["0%", "0.3%", "50%"]);
    expect([formatCost(0), formatCost(0.00012345), formatCost(1234.5)]).toEqual(["0", "0.000123", "1234.50"]);
  });
});
