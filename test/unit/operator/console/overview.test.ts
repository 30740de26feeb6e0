import { describe, expect, it } from "vitest";
import type { Activity } from "../../../../src/operator/console/api/activity.ts";
import { selectCacheGroups } from "../../../../src/operator/console/pages/overview/cache-groups.ts";
import {
  addSeries,
  thresholdTone,
  toPerMinute,
  toTimes,
} from "../../../../src/operator/console/pages/overview/series.ts";
import { countErrors, selectTop } from "../../../../src/operator/console/pages/overview/top-groups.ts";
import { formatProviderErrors } from "../../../../src/operator/console/shared/provider-usage.ts";
import { findIsolatedPoints } from "../../../../src/operator/console/ui/charts/isolated-points.ts";
import { NO_USAGE } from "./no-usage.ts";

const FROM = Date.UTC(2026, 10, 22, 12);
const none = { p50: [null, null, null], p95: [null, null, null], p99: [null, null, null] };

/** Three steps of five minutes, of which the last has lasted one. */
const activity: Activity = {
  from: FROM,
  to: FROM + 15 * 60_000,
  now: FROM + 11 * 60_000,
  step_ms: 5 * 60_000,
  series: {
    requests: [10, 0, 4],
    failed: [1, 0, 1],
    cancelled: [0, 0, 0],
    refused: [2, 0, 0],
    prompt_tokens: [0, 0, 0],
    cached_tokens: [0, 0, 0],
    completion_tokens: [0, 0, 0],
    cost: [0, 0, 0],
    slots: [0, 0, 0],
    waiting: [0, 0, 0],
    first_token_ms: none,
    duration_ms: none,
  },
  totals: {
    requests: 14,
    succeeded: 10,
    failed: 2,
    cancelled: 0,
    refused: 2,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    cost: 0,
    first_token_ms: null,
    duration_ms: null,
  },
  errors: [],
};

describe("the overview", () => {
  it("ends at the present moment, and rates the current step by the time that it has lasted", () => {
    expect(toTimes(activity).map((at) => at - FROM / 1_000)).toEqual([300, 600, 660]);
    const now = FROM + 660_000;
    expect(toPerMinute({ ...activity, now }, [10, 0, 6])).toEqual([2, 0, 1]);
    // A burst within the first seconds of a step is no higher rate than it was.
    expect(toPerMinute({ ...activity, now: FROM + 601_000 }, [10, 0, 301])).toEqual([2, 0, 60]);
    expect(toPerMinute({ ...activity, now: FROM + 60_000 }, [4])).toEqual([4]);
    expect(addSeries(activity.series.failed, activity.series.refused)).toEqual([3, 0, 1]);
  });

  it("lists the groups with the most input tokens for the prompt cache, without those that have none", () => {
    const group = (provider: string, prompt_tokens: number) => ({ ...NO_USAGE, provider, prompt_tokens });
    const groups = Array.from({ length: 12 }, (_, index) => group(`p${index}`, index));
    const shown = selectCacheGroups(groups).map(({ provider }) => provider);
    expect(shown).toEqual(["p11", "p10", "p9", "p8", "p7"]);
    expect(selectCacheGroups([group("idle", 0)])).toEqual([]);
  });

  it("lists the groups with the most requests, cost or errors, without those that have none", () => {
    const groups = [
      { ...NO_USAGE, model: "busy", requests: 90, failed: 1 },
      { ...NO_USAGE, model: "dear", requests: 5, cost: 7 },
      { ...NO_USAGE, model: "broken", requests: 9, failed: 3, refused: 2 },
    ];
    const top = (order: Parameters<typeof selectTop>[2]) =>
      selectTop(groups, "model", order).map(({ model }) => model);
    expect(top("requests")).toEqual(["busy", "broken", "dear"]);
    expect(top("cost")).toEqual(["dear"]);
    expect(top("errors")).toEqual(["broken", "busy"]);
  });

  it("blames a provider only for attempts that failed because of it", () => {
    const refused = { ...NO_USAGE, provider: "", requests: 9, refused: 9 };
    const asked = { ...NO_USAGE, provider: "engine", requests: 20, failed: 6, refused: 8, cache_hits: 2 };
    const engine = { ...asked, attempts: 10, provider_errors: 1 };
    const top = selectTop([refused, engine], "provider", "errors");
    expect(top.map((item) => [item.provider, countErrors(item, "provider")])).toEqual([["engine", 1]]);
    expect(selectTop([refused, engine], "provider", "requests")).toEqual([engine]);
    // Of 10 attempts one failed.
    expect(formatProviderErrors(engine)).toBe("10%");
  });

  it("colours values by their thresholds", () => {
    expect([0, 0.05, 0.2].map((rate) => thresholdTone(rate, 0.01, 0.1))).toEqual([undefined, "warn", "bad"]);
  });
});

describe("a chart", () => {
  it("draws a value without neighbours as a point", () => {
    expect(findIsolatedPoints([1, null, 2, 3, null, 4, null])).toEqual([0, 5]);
    expect(findIsolatedPoints([7])).toEqual([0]);
  });
});
