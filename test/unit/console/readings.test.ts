import { describe, expect, it } from "vitest";
import { parseMetrics, total } from "../../../src/console/api/metrics.ts";
import { pastSpans } from "../../../src/console/pages/overview/backfill.ts";
import { type Reading, readingOf, smoothed, spansOf } from "../../../src/console/pages/overview/readings.ts";
import { lonePoints } from "../../../src/console/ui/lone-points.ts";

const START = 1_800_000_000_000;
const reading = (seconds: number, more: Partial<Reading> = {}): Reading => ({
  at: START + seconds * 1_000,
  inUse: 0,
  waiting: 0,
  requests: 0,
  errors: 0,
  promptTokens: 0,
  completionTokens: 0,
  firstTokenSeconds: 0,
  firstTokens: 0,
  ...more,
});

describe("Prometheus text", () => {
  const text = [
    "# HELP requests_total Requests.",
    "# TYPE requests_total counter",
    'requests_total{route="/a b",status="200"} 3',
    'requests_total{route="a \\"quoted\\" \\\\ one",status="500"} 1.5e1',
    "plain 7",
    "",
    "broken{",
  ].join("\n");

  it("is read with its labels", () => {
    const samples = parseMetrics(text);
    expect(samples).toHaveLength(3);
    expect(samples[1]?.labels).toEqual({ route: 'a "quoted" \\ one', status: "500" });
    expect(total(samples, "requests_total")).toBe(18);
    expect(total(samples, "requests_total", ({ status }) => status === "200")).toBe(3);
    expect(total(samples, "plain")).toBe(7);
  });
});

describe("the overview's readings", () => {
  it("come from the gateway's metrics", () => {
    const metrics = parseMetrics(
      [
        'polygate_generations_total{dialect="messages",status="200"} 4',
        'polygate_generations_total{dialect="messages",status="503"} 2',
        'gen_ai_client_token_usage_sum{gen_ai_token_type="input"} 100',
        'gen_ai_client_token_usage_sum{gen_ai_token_type="output"} 30',
        "gen_ai_server_time_to_first_token_seconds_sum 1.5",
        "gen_ai_server_time_to_first_token_seconds_count 3",
      ].join("\n"),
    );
    expect(readingOf(metrics, START, { in_use: 1, waiting: 2 })).toEqual({
      at: START,
      inUse: 1,
      waiting: 2,
      requests: 6,
      errors: 2,
      promptTokens: 100,
      completionTokens: 30,
      firstTokenSeconds: 1.5,
      firstTokens: 3,
    });
  });

  it("become rates a second, and the mean time to the first token", () => {
    const later = { requests: 20, errors: 5, completionTokens: 100, firstTokenSeconds: 3, firstTokens: 6 };
    expect(spansOf([reading(0), reading(10, later)])).toMatchObject([
      { requests: 2, errors: 0.5, completionTokens: 10, firstToken: 0.5 },
    ]);
  });

  it("know nothing over a long silence, and when counting began anew", () => {
    expect(spansOf([reading(0), reading(200, { requests: 9 })])).toMatchObject([
      { requests: null, inUse: null },
    ]);
    expect(spansOf([reading(0, { requests: 9 }), reading(5)])).toMatchObject([{ requests: null }]);
  });

  it("are averaged over what is known", () => {
    const spans = spansOf([reading(0), reading(10, { requests: 10 }), reading(20, { requests: 40 })]);
    expect(smoothed(spans, 2)).toMatchObject([{ time: START / 1_000 + 20, requests: 2, firstToken: null }]);
  });
});

describe("a chart", () => {
  it("draws a value as a point that no line leads to", () => {
    expect(lonePoints([1, null, 2, 3, null, 4, null])).toEqual([0, 5]);
    expect(lonePoints([7])).toEqual([0]);
  });
});

describe("the past from the history", () => {
  const record = (seconds: number, status = "success") => ({
    created_at: START + seconds * 1_000,
    status,
    prompt_tokens: 60,
    completion_tokens: 30,
  });

  it("is counted by the minute", () => {
    const records = [record(5), record(50, "error"), record(70)];
    expect(pastSpans(records, false, START, START + 120_000)).toMatchObject([
      { time: START / 1_000 + 60, requests: 2 / 60, errors: 1 / 60, promptTokens: 2, completionTokens: 1 },
      { time: START / 1_000 + 120, requests: 1 / 60, errors: 0 },
    ]);
  });

  it("begins with the oldest record when older ones are gone", () => {
    const spans = pastSpans([record(130), record(185)], true, START, START + 300_000);
    expect(spans).toHaveLength(2);
    expect(spans[0]?.requests).toBe(1 / 60);
  });

  it("ends where the watching begins: no part of the last minute is lost", () => {
    const spans = pastSpans([record(20), record(85)], false, START, START + 90_000);
    expect(spans).toMatchObject([{ time: START / 1_000 + 90, requests: 1 / 60 }]);
  });
});
