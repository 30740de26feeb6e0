import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_PROVIDER } from "../../../../src/core/config/provider-id.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import type { RequestFacts, RequestOutcome } from "../../../../src/core/ports/request-outcome.ts";
import { HISTOGRAMS } from "../../../../src/records/telemetry/metric-names.ts";
import { getOutbox } from "../../../../src/records/telemetry/outbox.ts";
import { recordRequest } from "../../../../src/records/telemetry/record-request.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";
import { createOutcome } from "../../../support/request-outcome.ts";

let platform: Platform;

beforeEach(async () => {
  platform = await memoryPlatform();
  // What was counted is not sent while a test looks at it.
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** What is counted of a request. */
function counted(outcome: RequestOutcome): Readonly<Record<string, number>> {
  void recordRequest(platform, outcome, null);
  return getOutbox(platform).counts.take();
}

type Label = readonly [name: string, value: string];

const labelled = (name: string, labels: readonly Label[]): string => {
  const texts = labels.map(
    ([label, value]) =>
      `${label}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return texts.length === 0 ? name : `${name}{${texts.join(",")}}`;
};

/** The same, word for word as the metrics are described. */
function expected({ method, status, durationMs, facts }: RequestOutcome): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (name: string, labels: readonly Label[], value = 1) => {
    const series = labelled(name, labels);
    counts[series] = (counts[series] ?? 0) + value;
  };
  const observe = (name: string, labels: readonly Label[], value: number | undefined) => {
    if (value === undefined) return;
    const bound = HISTOGRAMS.get(name)?.bounds.find((upper) => value <= upper) ?? "+Inf";
    add(`${name}_bucket`, [...labels, ["le", String(bound)]]);
    add(`${name}_sum`, labels, value);
  };
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);
  const { route = "", dialect, model, error, provider: asked = DEFAULT_PROVIDER } = facts;
  const code: Label = ["status", String(status)];
  add("polygate_http_requests_total", [["route", route], ["method", method], code]);
  if (dialect === undefined || model === undefined) return counts;
  const provider = asked === DEFAULT_PROVIDER ? platform.variables.providerDriver : asked;
  add("polygate_generations_total", [["dialect", dialect], ["model", model], code, ["error", error ?? ""]]);
  if (error === "upstream_error") add("polygate_upstream_errors_total", [["code", error]]);
  if (facts.retries !== undefined) {
    add("polygate_generation_retries_total", [["model", model]], facts.retries);
  }
  const labels: readonly Label[] = [
    ["gen_ai_operation_name", "chat"],
    ["gen_ai_provider_name", provider],
    ["gen_ai_request_model", model],
  ];
  const ended: readonly Label[] = error === undefined ? labels : [...labels, ["error_type", error]];
  observe("gen_ai_server_request_duration_seconds", ended, durationMs / 1000);
  observe("polygate_queue_wait_seconds", [], seconds(facts.queueMs));
  observe("gen_ai_server_time_to_first_token_seconds", labels, seconds(facts.firstTokenMs));
  const input: Label = ["gen_ai_token_type", "input"];
  observe("gen_ai_client_token_usage", [...labels, input], facts.promptTokens);
  const output: Label = ["gen_ai_token_type", "output"];
  observe("gen_ai_client_token_usage", [...labels, output], facts.completionTokens);
  return counts;
}

const text = fc.constantFrom("", "m", "a b", "m\0", "\0m", 'q"', "b\\", "n\n", "200", "é", "error");
const number = fc.oneof(fc.nat({ max: 100_000 }), fc.double(), fc.constantFrom(1, 4, 10, 20, 10_000));

const FIELDS: fc.Arbitrary<RequestFacts> = fc.record(
  {
    route: fc.constantFrom("/v1/chat/completions", "/v1/models/:model+"),
    dialect: fc.constantFrom("chat-completions", "messages"),
    operation: fc.constant("chat" as const),
    provider: fc.constantFrom(DEFAULT_PROVIDER, "mine", "m"),
    model: text,
    error: fc.oneof(fc.constant("upstream_error"), text),
    queueMs: number,
    firstTokenMs: number,
    promptTokens: number,
    completionTokens: number,
    retries: fc.nat(),
  },
  { requiredKeys: ["operation"] },
);

const OUTCOMES: fc.Arbitrary<RequestOutcome> = fc
  .record({
    method: fc.constantFrom("GET", "POST"),
    status: fc.constantFrom(200, 429, 502),
    durationMs: number,
    facts: FIELDS,
  })
  .map(createOutcome);

describe("the counts of a request", () => {
  it("have the same names, whatever requests were counted before", () => {
    fc.assert(
      fc.property(fc.array(OUTCOMES, { minLength: 1, maxLength: 20 }), (requests) => {
        for (const outcome of requests) expect(counted(outcome)).toEqual(expected(outcome));
      }),
    );
  });

  it("have the same names after more kinds of requests than are cached", () => {
    for (let n = 0; n < 1_000; n += 1) {
      const facts: RequestFacts = { route: `/${n}`, dialect: "d", operation: "chat", model: `m${n % 300}` };
      const outcome = createOutcome({ durationMs: n, facts });
      expect(counted(outcome)).toEqual(expected(outcome));
    }
  });

  it("have one name for all invented methods", () => {
    const facts = { route: "/v1/models" };
    const series = Object.keys(counted(createOutcome({ method: "BREW", status: 405, facts })));
    expect(series).toEqual(['polygate_http_requests_total{route="/v1/models",method="other",status="405"}']);
  });

  it.each(["/healthz", "/readyz"])("omit probes: %s", (route) => {
    expect(counted(createOutcome({ method: "GET", facts: { route } }))).toEqual({});
  });
});
