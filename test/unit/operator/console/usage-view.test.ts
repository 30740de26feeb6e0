import { describe, expect, it } from "vitest";
import type { UsageItem } from "../../../../src/operator/console/api/usage.ts";
import {
  buildSeries,
  displayName,
  formatCost,
  formatShare,
  formatView,
  parseView,
  rangeStart,
} from "../../../../src/operator/console/pages/usage/usage-view.ts";

const NOW = Date.UTC(2026, 10, 22, 10, 30);
const HOUR = 3_600_000;

describe("how usage is looked at", () => {
  it("is in the address, and comes back from it", () => {
    const view = parseView("days=30&by=model&key=key_1&colour=red");
    expect(view).toEqual({ days: 30, unit: "day", by: "model", filters: { key: "key_1" } });
    expect(parseView(formatView(view))).toEqual(view);
    expect(parseView(formatView(view, { filters: { key: null, account: "a b&c" } })).filters).toEqual({
      account: "a b&c",
    });
  });

  it("is the last week by key unless it says something that there is", () => {
    expect(parseView("days=12&by=colour")).toEqual({ days: 7, unit: "hour", by: "key", filters: {} });
  });

  it("begins so many hours or days ago, with the present one", () => {
    expect(rangeStart(parseView("days=1"), NOW)).toBe(Date.UTC(2026, 10, 21, 11));
    expect(rangeStart(parseView("days=30"), NOW)).toBe(Date.UTC(2026, 9, 24));
  });

  it("has a value for each hour: counts are 0 where nothing was used, times are not known", () => {
    const item = { at: NOW - (NOW % HOUR), requests: 3, duration_ms: { p50: 5, p95: 6, p99: 7 } };
    const nothing: UsageItem = {
      ...{
        at: 0,
        requests: 0,
        total_tokens: 0,
        attempts: 0,
        succeeded: 0,
        failed: 0,
        cancelled: 0,
        refused: 0,
        cache_hits: 0,
        prompt_tokens: 0,
        cached_tokens: 0,
        cache_write_5m_tokens: 0,
        cache_write_1h_tokens: 0,
        audio_input_tokens: 0,
        audio_output_tokens: 0,
        web_searches: 0,
        web_fetches: 0,
      },
      ...{
        completion_tokens: 0,
        reasoning_tokens: 0,
        cost: 0,
        first_token_ms: null,
        duration_ms: null,
        queue_ms: null,
      },
    };
    const series = buildSeries([{ ...nothing, ...item }], item.at - 2 * HOUR, "hour", NOW);
    expect(series.times).toHaveLength(3);
    expect(series.count(({ requests }) => requests)).toEqual([0, 0, 3]);
    expect(series.pick(({ duration_ms }) => duration_ms?.p50 ?? null)).toEqual([null, null, 5]);
  });

  it("tells names, shares and money as people read them", () => {
    const names = new Map([
      ["key_1", "Ada"],
      ["key_2", ""],
    ]);
    expect(["key_1", "key_2", "key_3", ""].map((id) => displayName("key", id, names))).toEqual([
      "Ada",
      "key_2",
      "key_3",
      "no key (a token of the provider)",
    ]);
    expect([formatShare(0, 0), formatShare(1, 300), formatShare(1, 2)]).toEqual(["0%", "0.3%", "50%"]);
    expect([formatCost(0), formatCost(0.00012345), formatCost(1234.5)]).toEqual(["0", "0.000123", "1234.50"]);
  });
});
