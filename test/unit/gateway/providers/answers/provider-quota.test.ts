import { describe, expect, test } from "vitest";
import {
  readQuotaWindows,
  readStatedWait,
} from "../../../../../src/gateway/providers/answers/provider-quota.ts";

const NOW = Date.parse("2026-11-24T10:00:00Z");
const at = (seconds: number) => NOW + seconds * 1_000;
const unix = (seconds: number) => String(at(seconds) / 1_000);
const windowsOf = (headers: Record<string, string>) => readQuotaWindows(new Headers(headers), NOW);

describe("the quotas in headers", () => {
  test("of OpenAI: a share of requests and tokens, with durations", () => {
    const windows = windowsOf({
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-remaining-tokens": "75000",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-reset-tokens": "6m0s",
    });
    expect(windows).toEqual([
      { name: "requests", remaining: 0, isExhausted: true, resetsAt: at(1), isOfModel: true },
      { name: "tokens", remaining: 0.5, isExhausted: false, resetsAt: at(360), isOfModel: true },
    ]);
  });

  test.each([
    ["12ms", 0.012],
    ["1m26.4s", 86.4],
    ["24h0m0s", 86_400],
    ["59.70", 59.7],
  ])("with the reset %s", (reset, seconds) => {
    const [window] = windowsOf({
      "x-ratelimit-limit-requests": "10",
      "x-ratelimit-remaining-requests": "9",
      "x-ratelimit-reset-requests": reset,
    });
    expect(window?.resetsAt).toBeCloseTo(at(seconds), 0);
  });

  test.each(["0", "-1"])("of Azure: the limit %s is unknown", (limit) => {
    const headers = {
      "x-ratelimit-limit-requests": limit,
      "x-ratelimit-remaining-requests": limit,
      "x-ratelimit-reset-requests": "10s",
    };
    expect(windowsOf(headers)).toEqual([]);
  });

  test("of Anthropic: counts with times", () => {
    const windows = windowsOf({
      "anthropic-ratelimit-input-tokens-limit": "50000",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-24T10:00:30Z",
    });
    expect(windows).toEqual([
      { name: "input-tokens", remaining: 0, isExhausted: true, resetsAt: at(30), isOfModel: true },
    ]);
  });

  test("of a Claude subscription: five hours, a week, and the week of one model", () => {
    const windows = windowsOf({
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-5h-status": "allowed",
      "anthropic-ratelimit-unified-5h-utilization": "1.02",
      "anthropic-ratelimit-unified-5h-reset": unix(3_600),
      "anthropic-ratelimit-unified-7d-status": "rejected",
      "anthropic-ratelimit-unified-7d-utilization": "1",
      "anthropic-ratelimit-unified-7d-reset": unix(200_000),
      "anthropic-ratelimit-unified-7d_oi-status": "rejected",
      "anthropic-ratelimit-unified-7d_oi-reset": unix(100_000),
    });
    expect(windows).toEqual([
      { name: "5h", remaining: 0, isExhausted: false, resetsAt: at(3_600), isOfModel: false },
      { name: "7d", remaining: 0, isExhausted: true, resetsAt: at(200_000), isOfModel: false },
      { name: "7d_oi", remaining: 0, isExhausted: true, resetsAt: at(100_000), isOfModel: true },
    ]);
  });

  test("of Codex: used percents", () => {
    const windows = windowsOf({
      "x-codex-primary-used-percent": "100",
      "x-codex-primary-window-minutes": "300",
      "x-codex-primary-reset-at": unix(1_800),
      "x-codex-secondary-used-percent": "25",
      "x-codex-secondary-reset-at": unix(500_000),
    });
    expect(windows).toEqual([
      { name: "primary", remaining: 0, isExhausted: true, resetsAt: at(1_800), isOfModel: false },
      { name: "secondary", remaining: 0.75, isExhausted: false, resetsAt: at(500_000), isOfModel: false },
    ]);
  });

  test("that have passed or are malformed are ignored", () => {
    expect(
      windowsOf({
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-reset": unix(-1),
        "x-ratelimit-limit-requests": "many",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "soon",
        "x-codex-primary-used-percent": "100",
      }),
    ).toEqual([]);
  });

  test("that reset in more than a year are ignored", () => {
    expect(
      windowsOf({
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-reset": String(NOW),
        "anthropic-ratelimit-unified-7d-utilization": "1",
        "anthropic-ratelimit-unified-7d-reset": "1e300",
        "x-ratelimit-limit-requests": "5",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "999999999d",
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-reset-at": "1e308",
      }),
    ).toEqual([]);
  });

  test("are shares from 0 to 1 for any stated values", () => {
    const windows = windowsOf({
      "anthropic-ratelimit-unified-5h-utilization": "-1e300",
      "anthropic-ratelimit-unified-5h-reset": unix(60),
      "x-codex-primary-used-percent": "-1e308",
      "x-codex-primary-reset-at": unix(60),
      "x-codex-secondary-used-percent": "1e308",
      "x-codex-secondary-reset-at": unix(60),
    });
    expect(windows.map(({ remaining }) => remaining)).toEqual([1, 1, 0]);
  });
});

describe("the wait that a refusal states", () => {
  const waitOf = (headers: Record<string, string>, body: Record<string, unknown> = {}) =>
    readStatedWait(new Headers(headers), body, NOW);

  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 2],
    [{ "x-ms-retry-after-ms": "300" }, 1],
    [{ "retry-after": "0.5" }, 1],
    [{ "retry-after": "Tue, 24 Nov 2026 10:01:00 GMT", date: "Tue, 24 Nov 2026 10:00:00 GMT" }, 60],
    [{ "retry-after": "tomorrow" }, null],
    [{}, null],
  ])("%j", (headers, seconds) => {
    expect(waitOf(headers)).toBe(seconds);
  });

  test.each([
    [{ error: { type: "usage_limit_reached", resets_at: at(7_200) / 1_000 } }, 7_200],
    [{ error: { type: "usage_limit_reached", resets_in_seconds: 90 } }, 90],
    [
      { error: { details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }] } },
      35,
    ],
    [{ error: { details: "none" } }, null],
    [{ error: "slow down" }, null],
  ])("%j", (body, seconds) => {
    expect(waitOf({}, body)).toBe(seconds);
  });

  test("of a daily quota of Google is the rest of the day", () => {
    const quotaId = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    const details = [{ violations: [{ quotaId }] }, { retryDelay: "34s" }];
    expect(waitOf({}, { error: { details } })).toBe(22 * 3_600);
  });
});
