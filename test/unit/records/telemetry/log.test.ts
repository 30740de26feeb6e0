import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RequestFacts, RequestOutcome } from "../../../../src/core/ports/request-outcome.ts";
import { logRequest } from "../../../../src/records/telemetry/log.ts";
import { createOutcome } from "../../../support/request-outcome.ts";

const lines: string[] = [];

beforeEach(() => {
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  lines.length = 0;
});

/** Any text, halves of characters and ends of lines included, and often one that is plain. */
const text = fc.oneof(
  fc.stringMatching(/^[\w./:@-]{0,40}$/),
  fc.string({ unit: "binary" }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('"', "\\", "\u007f", "\u2028", "\ud800", "é", "😀", "\n", "</script>"),
);
const number = fc.oneof(
  fc.nat(),
  fc.double(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e21),
);

const FIELDS: fc.Arbitrary<RequestFacts> = fc
  .array(
    fc.oneof(
      fc.tuple(fc.constantFrom("route", "key", "requestedModel", "account", "error", "cause"), text),
      fc.tuple(
        fc.constantFrom("queueMs", "firstTokenMs", "promptTokens", "attempts", "retryAfterSeconds"),
        number,
      ),
      fc.tuple(fc.constant("stream"), fc.boolean()),
      fc.tuple(fc.constantFrom("model", "errorStatus", "provider"), fc.constant(undefined)),
    ),
  )
  .map((entries) => Object.assign({}, ...entries.map(([name, value]) => ({ [name]: value }))));

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe("the log line of a request", () => {
  it("is the JSON of its members in order, for any values", () => {
    vi.useFakeTimers();
    fc.assert(
      fc.property(
        FIELDS,
        text,
        number,
        fc.date({ min: new Date(0), noInvalidDate: true }),
        (facts, id, ms, at) => {
          vi.setSystemTime(at);
          logRequest(
            createOutcome({ method: "POST", path: "/v1/models", requestId: id, durationMs: ms, facts }),
            1,
          );
          const named = Object.entries(facts).map(([name, value]) => [snakeCase(name), value]);
          expect(lines.pop()).toBe(
            JSON.stringify({
              at: at.toISOString(),
              request_id: id,
              method: "POST",
              path: "/v1/models",
              status: 200,
              duration_ms: Math.round(ms),
              ...Object.fromEntries(named),
            }),
          );
        },
      ),
    );
  });

  it("has the time to the millisecond, also from one second to the next", () => {
    vi.useFakeTimers();
    const times = [0, 7, 89, 999, 1_000, 59_999, 60_000, 1, 1_700_000_000_010, 1_700_000_000_999];
    for (const time of times) {
      vi.setSystemTime(time);
      logRequest(createOutcome(), 1);
    }
    expect(lines.map((line): unknown => JSON.parse(line).at)).toEqual(
      times.map((time) => new Date(time).toISOString()),
    );
  });

  it("hides the key in its path", () => {
    logRequest(createOutcome({ path: "/admin/keys/sk-secret" }), 1);
    expect(lines.join()).not.toContain("secret");
    expect(JSON.parse(lines.join()).path).toBe("/admin/keys/…");
  });
});

describe("the sample of the log", () => {
  const outcomes = (changes: Partial<RequestOutcome>) =>
    Array.from({ length: 10_000 }, () =>
      createOutcome({ uniqueRequestId: `req_${crypto.randomUUID().replaceAll("-", "")}`, ...changes }),
    );

  it("contains about the configured share of successful requests", () => {
    for (const sample of [0, 0.1, 0.5, 1]) {
      const requests = outcomes({});
      for (const outcome of requests) logRequest(outcome, sample);
      expect(Math.abs(lines.splice(0).length / requests.length - sample)).toBeLessThan(0.05);
    }
  });

  it("contains every failure, also of an answer that began with status 200", () => {
    const failures = [...outcomes({ status: 500 }), ...outcomes({ facts: { error: "cut" } })];
    for (const outcome of failures) logRequest(outcome, 0);
    expect(lines).toHaveLength(failures.length);
  });
});
