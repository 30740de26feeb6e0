import { describe, expect, it } from "vitest";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import type { Variables } from "../../../../src/core/variables/variables.ts";

const DRIVERS = ["sessions", "openai"];
const parse = (env: Readonly<Record<string, unknown>>): Variables =>
  parseVariables(env, { drivers: DRIVERS });

/** The sentence that an environment is refused with. */
function faultOf(env: Readonly<Record<string, unknown>>): string {
  try {
    parse(env);
  } catch (error) {
    if (error instanceof Error && error.name === "VariableError") return error.message;
    throw error;
  }
  return "none";
}

interface Row {
  readonly name: string;
  readonly read: (variables: Variables) => unknown;
  readonly unset: unknown;
  /** A text, and its parsed value. */
  readonly good: readonly [string, unknown];
}

const row = (name: string, read: Row["read"], unset: unknown, ...good: Row["good"]): Row => ({
  name,
  read,
  unset,
  good,
});

const NUMBERS = [
  row("KEEP_ALIVE_MS", (v) => v.keepAliveMs, 10_000, "250", 250),
  row("FIRST_BYTE_TIMEOUT_MS", (v) => v.firstByteTimeoutMs, 120_000, "1", 1),
  row("ANSWER_TIMEOUT_MS", (v) => v.answerTimeoutMs, 600_000, "900000", 900_000),
  row("IDLE_TIMEOUT_MS", (v) => v.idleTimeoutMs, 60_000, "2147483647", 2_147_483_647),
  row("BODY_TIMEOUT_MS", (v) => v.bodyTimeoutMs, 60_000, "5000", 5_000),
  row("BODY_BUDGET_BYTES", (v) => v.bodyBudgetBytes, 88 * 1024 * 1024, "1000000", 1_000_000),
  row("KEPT_CHARACTERS", (v) => v.storedObjectLimits.characters, 64 * 1024 * 1024, "1000000", 1_000_000),
  row("KEPT_OBJECTS", (v) => v.storedObjectLimits.objects, 1_000, "10", 10),
  row("PROVIDER_AFFINITY_WAIT_MS", (v) => v.providerAffinityWaitMs, 500, "60000", 60_000),
  row("QUEUE_TIMEOUT_MS", (v) => v.queueTimeoutMs, 60_000, "5000", 5_000),
  row("POOL_SHARDS", (v) => v.poolShards, 1, "64", 64),
  row("PAGE_RATE_LIMIT", (v) => v.pageRateLimit, 100, "7", 7),
  row("BROWSER_COUNT", (v) => v.pages.browsers, 1, "2", 2),
  row("BROWSER_MAX_TABS", (v) => v.pages.tabs, 4, "3", 3),
  row("BROWSER_QUEUE_LIMIT", (v) => v.pages.queue, 50, "9", 9),
  row("BROWSER_QUEUE_TIMEOUT_MS", (v) => v.pages.queueMs, 30_000, "900", 900),
  row("BROWSER_KEEP_ALIVE_MS", (v) => v.pages.keepAliveMs, 600_000, "1500", 1_500),
  row("PAGE_NAVIGATION_TIMEOUT_MS", (v) => v.pages.navigationMs, 20_000, "800", 800),
  row("PAGE_TOTAL_TIMEOUT_MS", (v) => v.pages.totalMs, 40_000, "700", 700),
  row("PAGE_RESPONSE_TIMEOUT_MS", (v) => v.pages.responseStartMs, 10_000, "600", 600),
  row("PAGE_BUSY_TIMEOUT_MS", (v) => v.pages.maxBlockedMs, 5_000, "500", 500),
  row("PAGE_MAX_REQUESTS", (v) => v.pages.requests, 1_000, "6", 6),
  row("PAGE_MAX_BYTES", (v) => v.pages.bytes, 50_000_000, "5000000000", 5_000_000_000),
  row("PAGE_MAX_HEIGHT", (v) => v.pages.pageHeight, 20_000, "400", 400),
  row("SHUTDOWN_TIMEOUT_MS", (v) => v.process.shutdownMs, 25_000, "300", 300),
  row("TOKEN_REFRESH_CHECK_MS", (v) => v.process.refreshCheckMs, 300_000, "100", 100),
];

const FLAGS = [
  row("PROVIDER_WHOLE_ANSWERS", (v) => v.providerWholeAnswers, true, "off", false),
  row("PROVIDER_NATIVE", (v) => v.providerNative, true, "off", false),
  row("PROVIDER_PIPE_STREAMS", (v) => v.providerPipeStreams, false, "true", true),
  row("PROVIDER_TRACE_CONTEXT", (v) => v.providerTraceContext, false, "true", true),
  row("GATEWAY_DEVELOPMENT", (v) => v.development, false, "true", true),
  row("GATEWAY_SINGLE_PROCESS", (v) => v.singleProcess, false, "true", true),
  row("GATEWAY_CONFIG_WRITEBACK", (v) => v.configWriteback, false, "on", true),
];

const LISTS = [
  row("PROVIDER_DROP_PARAMS", (v) => v.providerDropParams, [], "seed, tools.function.strict", [
    "seed",
    "tools.function.strict",
  ]),
];

const ADDRESSES = [
  row("PROVIDER_BASE_URL", (v) => v.providerBaseUrl, null, "https://api.test/v1//", "https://api.test/v1"),
  row("RELEASES_URL", (v) => v.releasesUrl, null, "https://a.test/latest/", "https://a.test/latest/"),
  row(
    "HOSTING_API_BASE_URL",
    (v) => v.hosting.apiBaseUrl,
    "https://api.vercel.com",
    "http://127.0.0.1:9/",
    "http://127.0.0.1:9",
  ),
  row(
    "DNS_OVER_HTTPS_URL",
    (v) => v.dnsResolver,
    "https://cloudflare-dns.com/dns-query",
    "https://dns.test/q",
    "https://dns.test/q",
  ),
];

const CONFIG = '{"keys":["sk-secret"]}';

const OTHERS = [
  row("POOL_REGIONS", (v) => v.poolRegions, [], "weur, enam,weur", ["weur", "enam", "weur"]),
  row("PROVIDER_DRIVER", (v) => v.providerDriver, "sessions", "openai", "openai"),
  row("PROVIDER_TOKEN", (v) => v.providerToken, "none", "sk-1", "sk-1"),
  row("PROVIDER_MODELS", (v) => v.providerModels, {}, '{"a":"b"}', { a: "b" }),
  row("PROVIDER_STRATEGY", (v) => v.providerStrategy, null, "fill_first", "fill_first"),
  row("PROVIDER_TOOL_CALLS", (v) => v.providerToolCalls, "native", "markup", "markup"),
  row("ADMIN_KEY", (v) => v.adminKey, null, " key ", "key"),
  row("GATEWAY_CONFIG_JSON", (v) => v.configJson, null, CONFIG, CONFIG),
  row("VERCEL_TOKEN", (v) => v.hosting.token, null, "t", "t"),
  row("VERCEL_PROJECT_ID", (v) => v.hosting.projectId, null, "p", "p"),
  row("VERCEL_TEAM_ID", (v) => v.hosting.teamId, null, "team", "team"),
  row(
    "PAGE_PRIVATE_HOSTS",
    (v) => v.pages.privateHosts,
    new Set(),
    "LocalHost:80, [::1]:8080,",
    new Set(["localhost:80", "[::1]:8080"]),
  ),
  row(
    "DELIVERY_PRIVATE_HOSTS",
    (v) => v.deliveryPrivateHosts,
    new Set(),
    "receiver.internal:443",
    new Set(["receiver.internal:443"]),
  ),
  // The other variables of OpenTelemetry: test/unit/core/variables/telemetry-variables.test.ts.
  row(
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    (v) => v.telemetry?.tracesUrl ?? null,
    null,
    "http://c/v1/traces",
    "http://c/v1/traces",
  ),
  row("DATA_DIR", (v) => v.process.dataFolder, "data", "/data", "/data"),
  row("CLIENT_ADDRESS_HEADER", (v) => v.clientAddressHeader, null, "X-Real-IP", "X-Real-IP"),
  row("BROWSER_EXECUTABLE", (v) => v.process.browserExecutable, null, "/bin/chromium", "/bin/chromium"),
  row("PATH", (v) => v.process.searchPath, "", "/bin:/usr/bin", "/bin:/usr/bin"),
];

const ALL = [...NUMBERS, ...FLAGS, ...LISTS, ...ADDRESSES, ...OTHERS];

/** Every value in a tree of plain objects. */
function leaves(value: unknown): unknown[] {
  const isTree =
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isTree ? Object.values(value).flatMap(leaves) : [value];
}

describe("a variable of the deployment", () => {
  it.each(ALL)("has a default, also if it is empty: $name", ({ name, read, unset }) => {
    expect(read(parse({}))).toEqual(unset);
    expect(read(parse({ [name]: "  " }))).toEqual(unset);
    expect(read(parse({ [name]: undefined }))).toEqual(unset);
  });

  it.each(ALL)("is read: $name", ({ name, read, good: [text, value] }) => {
    expect(read(parse({ [name]: text }))).toEqual(value);
  });

  it("is tested here, as every variable is", () => {
    // `PROVIDER_MODELS` is read as an object without members.
    expect(ALL).toHaveLength(leaves(parse({})).length + 1);
  });

  it.each(NUMBERS)("must be a number above 0: $name", ({ name }) => {
    for (const wrong of ["0", "-1", "many", "1.5", "Infinity", "1e99"]) {
      expect(faultOf({ [name]: wrong })).toMatch(
        new RegExp(`^${name} is "${wrong}": it must be a whole number (above 0|from 1 to \\d+)$`),
      );
    }
  });

  it.each(FLAGS)("must be true or false: $name", ({ name, read }) => {
    for (const text of ["true", "1", "YES", "on"]) expect(read(parse({ [name]: text }))).toBe(true);
    for (const text of ["false", "0", "No", "off"]) expect(read(parse({ [name]: text }))).toBe(false);
    expect(faultOf({ [name]: "maybe" })).toBe(`${name} is "maybe": it must be true or false`);
  });

  it.each(ADDRESSES)(
    "must be an http or https address, and is not shown, because it may contain a password: $name",
    ({ name }) => {
      for (const wrong of ["api.test", "ftp://me:secret@api.test", "http://", "secret"]) {
        expect(faultOf({ [name]: wrong })).toMatch(
          new RegExp(`^${name} must be an http or https address(, or "off")?$`),
        );
      }
    },
  );

  it.each([
    ["PROVIDER_DRIVER", "foo", 'PROVIDER_DRIVER is "foo": it must be one of sessions, openai'],
    ["PROVIDER_TOOL_CALLS", "Native", 'PROVIDER_TOOL_CALLS is "Native": it must be one of native, markup'],
    [
      "BROWSER_KEEP_ALIVE_MS",
      "600001",
      'BROWSER_KEEP_ALIVE_MS is "600001": it must be a whole number from 1 to 600000',
    ],
    [
      "CLIENT_ADDRESS_HEADER",
      "x real ip",
      'CLIENT_ADDRESS_HEADER is "x real ip": it must be the name of an HTTP header',
    ],
    [
      "PAGE_PRIVATE_HOSTS",
      "localhost:80,localhost",
      'PAGE_PRIVATE_HOSTS has the entry "localhost": each must be a host and a port, such as 127.0.0.1:8080',
    ],
    [
      "PROVIDER_DROP_PARAMS",
      "seed,,user",
      'PROVIDER_DROP_PARAMS is "seed,,user": it must be names of members that are not required, separated by commas',
    ],
    [
      "PROVIDER_DROP_PARAMS",
      "seed,model",
      'PROVIDER_DROP_PARAMS is "seed,model": it must be names of members that are not required, separated by commas',
    ],
    ["PROVIDER_MODELS", "{", 'PROVIDER_MODELS must be a JSON object of texts, such as {"name":"value"}'],
    ["PROVIDER_MODELS", "[]", 'PROVIDER_MODELS must be a JSON object of texts, such as {"name":"value"}'],
    [
      "PROVIDER_MODELS",
      '{"a":1}',
      'PROVIDER_MODELS must be a JSON object of texts, such as {"name":"value"}',
    ],
    [
      "PROVIDER_MODELS",
      '{"a":""}',
      'PROVIDER_MODELS must be a JSON object of texts, such as {"name":"value"}',
    ],
    ["POOL_SHARDS", "65", 'POOL_SHARDS is "65": it must be a whole number from 1 to 64'],
    [
      "POOL_REGIONS",
      "weur,moon",
      'POOL_REGIONS is "weur,moon": it must be some of wnam, enam, sam, weur, eeur, apac, apac-ne, apac-se, oc, afr, me, separated by commas',
    ],
  ])("is refused: %s with %s", (name, text, sentence) => {
    expect(faultOf({ [name]: text })).toBe(sentence);
  });

  it.each([
    ["{sk-secret", "it is neither"],
    ["sk-secret", "it is neither"],
    [btoa("sk-secret"), "it is neither"],
    ['{"accounts":[{"email":7,"token":"sk-secret"}]}', "accounts.0.email: "],
    ['"sk-secret"', "it is neither"],
    [btoa('"sk-secret"'), "Invalid input"],
  ])("is refused without showing it: GATEWAY_CONFIG_JSON, broken (%s)", (text, fault) => {
    const sentence = faultOf({ GATEWAY_CONFIG_JSON: text });
    expect(sentence).toContain(
      `GATEWAY_CONFIG_JSON must be the configuration as JSON, or base64 of it: ${fault}`,
    );
    expect(sentence).not.toContain("secret");
  });

  it("may be a JSON value, as on Workers", () => {
    const variables = parse({ KEEP_ALIVE_MS: 5, GATEWAY_DEVELOPMENT: true, PROVIDER_MODELS: { a: "b" } });
    expect(variables).toMatchObject({ keepAliveMs: 5, development: true, providerModels: { a: "b" } });
    expect(faultOf({ KEEP_ALIVE_MS: 0 })).toContain("KEEP_ALIVE_MS");
  });

  it("is not read from bindings with other names", () => {
    const binding = { toJSON: () => "unreadable" };
    expect(parse({ HISTORY: binding, OTHER: "x" })).toEqual(parse({}));
  });

  it("may switch off the resolver", () => {
    expect(parse({ DNS_OVER_HTTPS_URL: "off" }).dnsResolver).toBeNull();
  });

  it("is shortened in an error if it is long", () => {
    expect(faultOf({ PROVIDER_DRIVER: "x".repeat(1_000) }).length).toBeLessThan(150);
  });
});

describe("the provider driver", () => {
  it("is the first driver by default", () => {
    expect(parseVariables({}, { drivers: ["one", "two"] }).providerDriver).toBe("one");
  });

  it("may be an earlier name, which is accepted but not offered", () => {
    const options = { drivers: ["one", "two"], driverAliases: new Map([["second", "two"]]) };
    expect(parseVariables({ PROVIDER_DRIVER: "second" }, options).providerDriver).toBe("second");
    expect(() => parseVariables({ PROVIDER_DRIVER: "third" }, options)).toThrow(
      'PROVIDER_DRIVER is "third": it must be one of one, two',
    );
  });
});
