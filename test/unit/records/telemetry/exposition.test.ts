import { describe, expect, it } from "vitest";
import type { QueueStatus } from "../../../../src/core/ports/account-status.ts";
import type { KeyUsage } from "../../../../src/core/ports/usage.ts";
import { Counts, formatSeriesName, HistogramSeries } from "../../../../src/records/telemetry/counts.ts";
import { formatExposition } from "../../../../src/records/telemetry/exposition.ts";
import { GENERATIONS, QUEUE_WAIT } from "../../../../src/records/telemetry/metric-names.ts";
import { parseSums } from "../../../../src/records/usage/reader.ts";

const idle: QueueStatus = {
  ready: 0,
  available: 2,
  in_use: 1,
  total: 3,
  available_accounts: [],
  in_use_accounts: [],
  max_inflight_per_account: 2,
  global_max_inflight: 6,
  recommended_concurrency: 6,
  waiting: 4,
  max_queue_size: 6,
  leases: [{ account: "one@x", age_ms: 5, model: "m", request_id: "r", key: "", dialect: "d" }],
  conditions: { ok: 2, untested: 0, failing: 0, cooling: 0, disabled: 0 },
  failing: [],
  outages: [],
  cooling: 1,
  cooldowns: [{ account: "two@x", proxy: "", kind: "rate_limited", reason: "", failures: 1, until: 1 }],
  waiting_requests: [],
};

const sums = parseSums(undefined);
const NOTHING: KeyUsage = { ...sums, key: "", last_used: 0, today: sums };

describe("the metrics in text form", () => {
  it("contain cumulative buckets of a histogram, also empty ones", () => {
    const counts = new Counts();
    const waits = new HistogramSeries(QUEUE_WAIT, {});
    for (const seconds of [0.005, 0.005, 0.3, 1_000]) counts.observe(waits, seconds);
    const lines = formatExposition(counts.take(), idle, [])
      .split("\n")
      .filter((line) => line.startsWith("polygate_queue_wait_seconds"));
    expect(lines[0]).toBe('polygate_queue_wait_seconds_bucket{le="0.01"} 2');
    expect(lines).toContain('polygate_queue_wait_seconds_bucket{le="0.16"} 2');
    expect(lines).toContain('polygate_queue_wait_seconds_bucket{le="0.32"} 3');
    expect(lines).toContain('polygate_queue_wait_seconds_bucket{le="81.92"} 3');
    expect(lines.slice(-3)).toEqual([
      'polygate_queue_wait_seconds_bucket{le="+Inf"} 4',
      "polygate_queue_wait_seconds_sum 1000.31",
      "polygate_queue_wait_seconds_count 4",
    ]);
  });

  it("distinguish and escape any label values", () => {
    const counts = new Counts();
    counts.add(formatSeriesName(GENERATIONS, { model: 'a"b\\c\nd' }));
    counts.add(formatSeriesName(GENERATIONS, { model: 'a"b\\c\nd' }));
    counts.add(formatSeriesName(GENERATIONS, { model: "le=" }));
    const text = formatExposition(counts.take(), idle, []);
    expect(text).toContain('polygate_generations_total{model="a\\"b\\\\c\\nd"} 2\n');
    expect(text).toContain('polygate_generations_total{model="le="} 1\n');
  });

  it("show the usage of the first 200 keys separately, and of all others together", () => {
    const use = (n: number): KeyUsage => ({
      ...NOTHING,
      key: `key_${n}`,
      requests: 2,
      prompt_tokens: 3,
      cost_nano: 5e8,
    });
    const keys = [{ ...NOTHING, key: "", requests: 1 }, ...Array.from({ length: 300 }, (_, n) => use(n))];
    const text = formatExposition({}, idle, keys);
    expect(text).toContain('polygate_key_requests_total{key="pass-through"} 1\n');
    expect(text).toContain('polygate_key_requests_total{key="key_0"} 2\n');
    expect(text).toContain('polygate_key_tokens_total{key="key_0",gen_ai_token_type="input"} 3\n');
    expect(text).toContain('polygate_key_cost_total{key="key_0"} 0.5\n');
    expect(text).toContain('polygate_key_requests_total{key="other"} 202\n');
    expect(text).not.toContain("key_250");
  });

  it("show the state of the account pool", () => {
    const text = formatExposition({}, idle, []);
    for (const line of [
      "polygate_accounts 3",
      "polygate_accounts_available 2",
      'polygate_accounts_cooling{kind="rate_limited"} 1',
      "polygate_slots_in_use 1",
      "polygate_slots_limit 6",
      'polygate_account_slots_in_use{account="one@x"} 1',
      "polygate_queue_depth 4",
      "polygate_queue_limit 6",
    ]) {
      expect(text).toContain(`\n${line}\n`);
    }
  });

  it("describe every metric exactly once", () => {
    const text = formatExposition({}, idle, []);
    const types = [...text.matchAll(/^# TYPE (\S+) (counter|histogram|gauge)$/gm)].map(([, name]) => name);
    const helps = [...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name);
    expect(types).toEqual(helps);
    expect(new Set(types).size).toBe(types.length);
  });

  it("show the health of each provider as a state set", () => {
    const providers = new Map([["default", "healthy"] as const, ["engine", "down"] as const]);
    const lines = formatExposition({}, idle, [], providers)
      .split("\n")
      .filter((line) => line.startsWith("polygate_provider_health{"));
    expect(lines).toEqual([
      'polygate_provider_health{provider="default",state="healthy"} 1',
      'polygate_provider_health{provider="default",state="degraded"} 0',
      'polygate_provider_health{provider="default",state="down"} 0',
      'polygate_provider_health{provider="engine",state="healthy"} 0',
      'polygate_provider_health{provider="engine",state="degraded"} 0',
      'polygate_provider_health{provider="engine",state="down"} 1',
    ]);
  });
});
