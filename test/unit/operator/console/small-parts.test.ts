import { afterEach, describe, expect, it, vi } from "vitest";
import { NO_USAGE_DETAILS } from "../../../../src/core/ports/usage.ts";
import { deleteAccount } from "../../../../src/operator/console/api/accounts.ts";
import { changeProvider, removeModel } from "../../../../src/operator/console/api/providers.ts";
import { describeAccount } from "../../../../src/operator/console/pages/history/describe-account.ts";
import { describeUsage } from "../../../../src/operator/console/pages/history/describe-usage.ts";
import { countFilters, toApiQuery } from "../../../../src/operator/console/pages/history/filter-fields.ts";
import { buildTimeline } from "../../../../src/operator/console/pages/history/timeline.ts";
import { extractToolCallMarkup } from "../../../../src/operator/console/pages/history/tool-call-markup.ts";
import { findFullKey } from "../../../../src/operator/console/pages/keys/full-key.ts";
import { parseQuery } from "../../../../src/operator/console/pages/page-service/link.ts";
import {
  DEFAULT_SCREENSHOT,
  screenshotPath,
} from "../../../../src/operator/console/pages/page-service/screenshot-path.ts";
import { parseTools, SAMPLE_TOOLS } from "../../../../src/operator/console/pages/playground/tools.ts";
import { findProxyCooldowns } from "../../../../src/operator/console/pages/proxies/cooling-proxies.ts";
import { generateKey } from "../../../../src/operator/console/shared/generate-key.ts";
import { formatPlural } from "../../../../src/operator/console/ui/count.ts";
import {
  formatCompact,
  formatDuration,
  formatFullTime,
  formatTime,
} from "../../../../src/operator/console/ui/format.ts";

describe("a request of the console", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it("is not sent with a path segment of dots, so that it never reaches another address", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path);
      return Response.json({ id: "x" });
    });
    await expect(removeModel("engine", "..")).rejects.toThrow("cannot be edited here");
    await expect(deleteAccount(".")).rejects.toThrow("cannot be edited here");
    await expect(changeProvider("..", {})).rejects.toThrow("cannot be edited here");
    await removeModel("engine", "a/../b...");
    expect(asked).toEqual(["/admin/providers/engine/models/a%2F..%2Fb..."]);
  });
});

describe("text in the console", () => {
  it.each([
    [850, "850 ms"],
    [12_340, "12.3 s"],
    [240_000, "4 min"],
    [10_800_000, "3 h"],
    [864_000_000, "10 days"],
  ])("shows a duration of %i ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("shows a number with its noun", () => {
    expect(formatPlural(1, "account")).toBe("1 account");
    expect(formatPlural(5_000, "account")).toBe("5,000 accounts");
    expect(formatPlural(2, "technology", "technologies")).toBe("2 technologies");
    expect(formatCompact(12_345)).toBe("12.3K");
  });

  it("shows a time with its day, with another year, and in full with its zone", () => {
    const now = new Date(2026, 4, 20, 15, 0, 0).getTime();
    expect(formatTime(new Date(2026, 4, 20, 9, 5, 7).getTime(), now)).toBe("20 May 09:05:07");
    expect(formatTime(new Date(2025, 4, 19, 9, 5, 7).getTime(), now)).toBe("19 May 2025 09:05:07");
    expect(formatTime(0, now)).toBe("never");
    expect(formatFullTime(new Date(2026, 4, 20, 9, 5, 7).getTime())).toMatch(
      /^20 May 2026 09:05:07 (?:GMT|UTC)/,
    );
    expect(formatFullTime(9e18)).toBe(formatTime(9e18));
  });
});

describe("proxies that cool down", () => {
  const cooldown = { kind: "unreachable", reason: "no answer", failures: 1, until: 5_000 } as const;

  it("are listed with the accounts that cannot use them", () => {
    const cooldowns = [
      { ...cooldown, account: "a", proxy: "office" },
      { ...cooldown, account: "b", proxy: "" },
      { ...cooldown, account: "c", proxy: "office" },
    ];
    const office = { reason: "no answer", until: 5_000, accounts: ["a", "c"] };
    expect([...findProxyCooldowns({ cooldowns })]).toEqual([["office", office]]);
    expect(findProxyCooldowns(null).size).toBe(0);
  });
});

describe("the address of a screenshot", () => {
  it("contains its options, as they are signed", () => {
    const path = screenshotPath({ ...DEFAULT_SCREENSHOT, url: "https://a.b/?c=d&e", hide: ".x, #y" });
    expect(parseQuery(path)).toEqual({ url: "https://a.b/?c=d&e", size: "x", hide: ".x, #y" });
  });

  it("contains only options that differ from the defaults and apply to the format", () => {
    expect(screenshotPath({ ...DEFAULT_SCREENSHOT, url: "example.com" })).toBe(
      "/v1/thumbs?url=example.com&size=x",
    );
    const all = {
      ...DEFAULT_SCREENSHOT,
      url: "https://a.b/?c=d&e",
      format: "png",
      selector: "#x",
      delay: "2",
      full: true,
    };
    expect(Object.fromEntries(new URL(screenshotPath(all), "http://x").searchParams)).toEqual({
      url: "https://a.b/?c=d&e",
      size: "x",
      format: "png",
      selector: "#x",
      delay: "2",
      full: "true",
    });
    // What is of pictures alone does not stand in the way of a PDF, nor the other way round.
    const either = { ...all, paper: "a5", landscape: true, clip: "0,0,1,1", scroll: true, click: "b" };
    expect(screenshotPath({ ...either, format: "pdf" })).toBe(
      "/v1/thumbs?url=https%3A%2F%2Fa.b%2F%3Fc%3Dd%26e&format=pdf&paper=a5&click=b&delay=2&landscape=true",
    );
    expect(screenshotPath(either)).not.toMatch(/paper|landscape/);
  });
});

describe("keys", () => {
  it("are random", () => {
    expect(generateKey()).toMatch(/^sk-[0-9a-f]{64}$/);
    expect(generateKey()).not.toBe(generateKey());
  });

  it("are found in an export by their position", () => {
    expect(findFullKey({ api_keys: [{ key: "sk-1" }, { key: "sk-2" }] }, 1)).toBe("sk-2");
    expect(() => findFullKey({ api_keys: [] }, 0)).toThrow("no longer exists");
  });
});

describe("tools that a user writes", () => {
  it("are accepted as a list of tools", () => {
    expect(parseTools(SAMPLE_TOOLS)).toMatchObject({ tools: [{ name: "get_weather" }], problem: "" });
    expect(parseTools('[{"name":"f"}]').tools).toEqual([
      { name: "f", description: "", parameters: { type: "object", properties: {} } },
    ]);
  });

  it.each(["", "{", "{}", '[{"description":"x"}]', '[{"name":""}]'])(
    "are refused with an explanation if they are %j",
    (text) => {
      expect(parseTools(text)).toEqual({ tools: [], problem: expect.stringContaining("tools") });
    },
  );
});

describe("the filters of the history", () => {
  it("are sent as in the URL, with times converted to UTC", () => {
    const address = "q=x&status=error&code=&from=2026-11-22T10%3A00&to=nonsense&page=3&other=1";
    const asked = Object.fromEntries(toApiQuery(address));
    const from = new Date("2026-11-22T10:00").toISOString();
    expect(asked).toEqual({ q: "x", status: "error", from });
    expect(countFilters(address)).toBe(3);
  });

  it.each([
    ["Error", "error"],
    ["Error 503", "error 503"],
    ["Error in my text", "Error in my text"],
    ["Errors", "Errors"],
  ])("translate a status in the search %j", (search, sent) => {
    expect(toApiQuery(new URLSearchParams({ q: search }).toString()).get("q")).toBe(sent);
  });
});

describe("the account of a record", () => {
  const failure = (account: string, message: string) => ({
    ...{ account, message, reason: "server_error", at: 1, provider: "p", model: "m" },
  });
  const tried = [failure("one@x", "out of memory"), failure("two@x", "refused")];
  const record = { account: "two@x", attempts: 2, status: "error" as const, error: "out of memory", tried };

  it("is the one that caused the error, also if another one was tried later", () => {
    const names = new Map([["one@x", "Main account"]]);
    expect(describeAccount(record, names)).toBe("Main account");
    expect(describeAccount({ ...record, error: "no capacity" }, names)).toBe("two@x");
    expect(describeAccount({ ...record, status: "success", error: "" }, names)).toBe("two@x");
  });
});

describe("the timeline of a generation", () => {
  const record = {
    account: "two@x",
    attempts: 2,
    content: "<tool_calls></tool_calls>",
    created_at: 1_000,
    elapsed_ms: 900,
    error: "",
    first_token_ms: 700,
    leased_at: 1_400,
    sign_ins: [
      { account: "one@x", at: 1_100, ms: 200 },
      { account: "two@x", at: 1_310, ms: 90 },
    ],
    reasoning: "",
    status: "success" as const,
    status_code: 200,
    tried: [{ account: "one@x", reason: "auth", message: "The token was refused.", at: 1_300 }],
    upstream_attempts: [],
  };

  it("shows the queue, failures with their reasons, the first token, tools and the end", () => {
    expect(buildTimeline(record).map(({ at, text }) => [at, text])).toEqual([
      [0, "Request received"],
      [100, "Asked for the token of one@x, 200 ms"],
      [300, "one@x failed: The token was refused. (auth)"],
      [310, "Asked for the token of two@x, 90 ms"],
      [400, "Sent with two@x"],
      [700, "First token"],
      [null, "Tool calls"],
      [900, "Completed"],
    ]);
  });

  it("shows names of accounts instead of their ids", () => {
    const steps = buildTimeline(record, new Map([["one@x", "Main account"]])).map(({ text }) => text);
    expect(steps).toContain("Main account failed: The token was refused. (auth)");
    expect(steps).toContain("Asked for the token of Main account, 200 ms");
    expect(steps).toContain("Sent with two@x");
  });

  it("lists every attempt, with the cause of each retry", () => {
    const attempt = { provider: "engine", account: "one@x", model: "m", ms: 10, status: 0, reason: "" };
    const upstream_attempts = [
      { ...attempt, cause: "", at: 1_400, status: 400, reason: "invalid_request" },
      { ...attempt, cause: "refused_field", at: 1_410, ms: 90 },
    ];
    const steps = buildTimeline({ ...record, tried: [], sign_ins: [], upstream_attempts });
    expect(steps.map(({ at, text }) => [at, text])).toEqual([
      [0, "Request received"],
      [400, "Attempt 1: m of engine with one@x failed: invalid_request 400, 10 ms"],
      [410, "Attempt 2 (without a field that the provider refuses): m of engine with one@x answered, 90 ms"],
      [700, "First token"],
      [null, "Tool calls"],
      [900, "Completed"],
    ]);
  });

  it.each([
    ["streaming", "runs"],
    ["success", "answered"],
  ] as const)("shows an attempt without a duration in a record that is %s: it %s", (status, result) => {
    const attempt = { provider: "", account: "", model: "m", ms: null, status: 200, reason: "", cause: "" };
    const upstream_attempts = [{ ...attempt, at: 1_400 }];
    const steps = buildTimeline({ ...record, status, tried: [], sign_ins: [], upstream_attempts });
    expect(steps[1]?.text).toBe(`Attempt 1: m ${result}`);
  });

  it("shows why each attempt failed, and which accounts failed before it", () => {
    const attempt = { provider: "", account: "one@x", model: "m", ms: 10, status: 429, cause: "" };
    const steps = buildTimeline({
      ...record,
      sign_ins: [],
      tried: [
        { account: "zero@x", reason: "auth", message: "No sign-in.", at: 1_100 },
        { account: "one@x", reason: "rate_limited", message: "Too many.", at: 1_210 },
      ],
      upstream_attempts: [{ ...attempt, at: 1_200, reason: "rate_limited" }],
    });
    expect(steps.slice(1, 3).map(({ text, account, tone }) => [text, account, tone])).toEqual([
      ["zero@x failed: No sign-in. (auth)", "zero@x", "bad"],
      ["Attempt 1: m with one@x failed: rate_limited 429, Too many, 10 ms", "one@x", "bad"],
    ]);
  });

  it("ends with the error, and shows nothing that did not happen", () => {
    const failed = {
      ...record,
      attempts: 1,
      status: "error" as const,
      status_code: 503,
      error: "down",
      content: "",
    };
    const steps = buildTimeline({ ...failed, first_token_ms: 0, sign_ins: [] });
    expect(steps.map(({ text }) => text)).toEqual([
      "Request received",
      "one@x failed: The token was refused. (auth)",
      "Failed with 503: down",
    ]);
  });
});

describe("tool calls in a provider's text", () => {
  it("are found in each form, also when they are cut off", () => {
    const markup = '<|TCML|tool_calls><|TCML|invoke name="f"></|TCML|invoke></|TCML|tool_calls>';
    expect(extractToolCallMarkup(`Before ${markup} after`)).toBe(markup);
    expect(extractToolCallMarkup("<tool_calls><invoke></invoke></tool_calls>")).toBe(
      "<tool_calls><invoke></invoke></tool_calls>",
    );
    expect(extractToolCallMarkup("x <|TCML|tool_calls><|TCML|invoke")).toBe(
      "<|TCML|tool_calls><|TCML|invoke",
    );
    expect(extractToolCallMarkup("No calls, but <b>tool_calls</b>.")).toBe("");
  });
});

describe("the usage details of a generation", () => {
  it("omit values of zero", () => {
    expect(describeUsage(NO_USAGE_DETAILS)).toEqual([]);
    expect(
      describeUsage({
        ...NO_USAGE_DETAILS,
        cached_tokens: 1_200,
        cache_write_1h_tokens: 30,
        web_searches: 2,
      }),
    ).toEqual(["1,200 read from the cache", "30 written to the cache for 1 hour", "2 web searches"]);
  });

  it.each(Object.keys(NO_USAGE_DETAILS))("have a text for %s", (name) => {
    expect(describeUsage({ ...NO_USAGE_DETAILS, [name]: 2 })).toHaveLength(1);
  });
});
