import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_PROVIDER } from "../../../../src/core/config/schema.ts";
import type { LogFields } from "../../../../src/core/ports/context.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import { HISTOGRAMS } from "../../../../src/records/telemetry/metric-names.ts";
import { getOutbox } from "../../../../src/records/telemetry/outbox.ts";
import { recordRequest } from "../../../../src/records/telemetry/record-request.ts";
import type { AnsweredRequest } from "../../../../src/records/telemetry/used-request.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";

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
function counted(answered: AnsweredRequest): Readonly<Record<string, number>> {
  void recordRequest(platform, answered, null);
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
function expected({ method, status, durationMs, fields }: AnsweredRequest): Record<string, number> {
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
  const { route = "", dialect, model, error, provider: asked = DEFAULT_PROVIDER } = fields;
  const code: Label = ["status", String(status)];
  add("polygate_http_requests_total", [["route", route], ["method", method], code]);
  if (dialect === undefined || model === undefined) return counts;
  const provider = asked === DEFAULT_PROVIDER ? platform.variables.providerDriver : asked;
  add("polygate_generations_total", [["dialect", dialect], ["model", model], code, ["error", error ?? ""]]);
  if (error === "upstream_error") add("polygate_upstream_errors_total", [["code", error]]);
  if (fields.retries !== undefined) {
    add("polygate_generation_retries_total", [["model", model]], fields.retries);
  }
  const labels: readonly Label[] = [
    ["gen_ai_operation_name", "chat"],
    ["gen_ai_provider_name", provider],
    ["gen_ai_request_model", model],
  ];
  const ended: readonly Label[] = error === undefined ? labels : [...labels, ["error_type", error]];
  observe("gen_ai_server_request_duration_seconds", ended, durationMs / 1000);
  observe("polygate_queue_wait_seconds", [], seconds(fields.queueMs));
  observe("gen_ai_server_time_to_first_token_seconds", labels, seconds(fields.firstTokenMs));
  const input: Label = ["gen_ai_token_type", "input"];
  observe("gen_ai_client_token_usage", [...labels, input], fields.promptTokens);
  const output: Label = ["gen_ai_token_type", "output"];
  observe("gen_ai_client_token_usage", [...labels, output], fields.completionTokens);
  return counts;
}

const text = fc.constantFrom("", "m", "a b", "m\0", "\0m", 'q"', "b\\", "n\n", "200", "é", "error");
const number = fc.oneof(fc.nat({ max: 100_000 }), fc.double(), fc.constantFrom(1, 4, 10, 20, 10_000));

const FIELDS: fc.Arbitrary<LogFields> = fc.record(
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

const ANSWERED: fc.Arbitrary<AnsweredRequest> = fc.record({
  method: fc.constantFrom("GET", "POST"),
  status: fc.constantFrom(200, 429, 502),
  durationMs: number,
  fields: FIELDS,
});

describe("what is counted of a request", () => {
  it("has the same names whichever requests were counted before", () => {
    fc.assert(
      fc.property(fc.array(ANSWERED, { minLength: 1, maxLength: 20 }), (requests) => {
        for (const answered of requests) expect(counted(answered)).toEqual(expected(answered));
      }),
    );
  });

  it("has them with more kinds of requests than are kept", () => {
    for (let n = 0; n < 1_000; n += 1) {
      const fields: LogFields = { route: `/${n}`, dialect: "d", operation: "chat", model: `m${n % 300}` };
      const answered = { method: "POST", status: 200, durationMs: n, fields };
      expect(counted(answered)).toEqual(expected(answered));
    }
  });

  it("counts methods that clients made up as one", () => {
    const fields = { route: "/v1/models" };
    const series = Object.keys(counted({ method: "BREW", status: 405, durationMs: 1, fields }));
    expect(series).toEqual(['polygate_http_requests_total{route="/v1/models",method="other",status="405"}']);
  });

  it.each(["/healthz", "/readyz"])("does not count probes: %s", (route) => {
    expect(counted({ method: "GET", status: 200, durationMs: 1, fields: { route } })).toEqual({});
  });
});
