import { describe, expect, it } from "vitest";
import { MetricTotals } from "../../../../src/records/archive/metric-totals.ts";
import { formatSeriesName } from "../../../../src/records/telemetry/counts.ts";

const generations = (model: string) =>
  formatSeriesName("polygate_generations_total", { dialect: "messages", model, status: "200", error: "" });
const duration = (model: string) =>
  formatSeriesName("gen_ai_server_request_duration_seconds_bucket", {
    gen_ai_request_model: model,
    le: "0.01",
  });
const HTTP = formatSeriesName("polygate_http_requests_total", {
  route: "/v1/models",
  method: "GET",
  status: "200",
});

/** Counts a request for each of many made-up models, one message each. */
function invent(totals: MetricTotals, count: number, toModel = (index: number) => `invented-${index}`): void {
  for (let index = 0; index < count; index += 1) {
    const model = toModel(index);
    totals.add({ [generations(model)]: 1, [duration(model)]: 1 });
  }
}

const sumOf = (totals: MetricTotals, name: string) =>
  Object.entries(totals.toDeltas())
    .filter(([series]) => series.startsWith(name))
    .reduce((sum, [, value]) => sum + value, 0);

describe("the totals of metrics", () => {
  it("keep every count while callers invent names of models", () => {
    const totals = new MetricTotals();
    totals.add({ [HTTP]: 7, [generations("idle")]: 3 });
    for (let round = 0; round < 4; round += 1) {
      totals.add({ [generations("busy")]: 1 });
      invent(totals, 2_000, (index) => `invented-${round}-${index}`);
    }
    const deltas = totals.toDeltas();
    expect(deltas).toMatchObject({ [HTTP]: 7, [generations("busy")]: 4 });
    expect(deltas).not.toHaveProperty([generations("idle")]);
    expect(deltas[generations("other")]).toBeGreaterThan(3);
    expect(sumOf(totals, "polygate_generations_total")).toBe(3 + 4 + 8_000);
    expect(sumOf(totals, "gen_ai_server_request_duration_seconds_bucket")).toBe(8_000);
    expect(Object.keys(deltas).length).toBeLessThanOrEqual(5_000);
  });

  it.each(['"', "\\", "\n", "✂", ',model="', "\ud800"])(
    "stay below a row of a database with names of %j",
    (character) => {
      const totals = new MetricTotals();
      invent(totals, 1_500, (index) => `${index}${character.repeat(200)}`.slice(0, 200));
      expect(new TextEncoder().encode(JSON.stringify(totals.toDeltas())).length).toBeLessThan(1_500_000);
      expect(sumOf(totals, "polygate_generations_total")).toBe(1_500);
    },
  );

  it("are the same after a restart", () => {
    const totals = new MetricTotals();
    invent(totals, 4_000);
    const again = new MetricTotals();
    again.add(JSON.parse(JSON.stringify(totals.toDeltas())));
    expect(again.toDeltas()).toEqual(totals.toDeltas());
  });
});
