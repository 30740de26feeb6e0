import { beforeAll, describe, expect, it } from "vitest";
import { useAdmin } from "../support/use-admin.ts";

/** What people and programs write where a number belongs. */
const ODD = ["-5", "0", "2.5", "9007199254740992", "1e308", "2e308", "NaN", "text", ""];

const { admin, chat, fetch } = useAdmin();

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

/** The parts of paths that are not there: the query is read before anything is looked for. */
const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, "1");

describe("numbers in a query", () => {
  const targets: [path: string, names: string[]][] = [];
  beforeAll(async () => {
    expect((await chat("hi")).status).toBe(200);
    const document = Object(await (await fetch("/openapi.json")).json());
    for (const [path, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
      const names = (operations["get"]?.parameters ?? [])
        .filter((one) => one.in === "query" && one.name !== "key")
        .map(({ name }) => name);
      // `key` is a credential for some endpoints. The page service loads pages, and is tested with its own parameters.
      const isPage = /thumb|technolog|metadata|jobs/.test(path);
      if (names.length > 0 && !isPage) targets.push([filled(path), names]);
    }
  });

  it("are taken or refused, and never break an endpoint", async () => {
    expect(targets.length).toBeGreaterThan(5);
    for (const [path, names] of targets) {
      const all = ODD.map((value) => names.map((name) => [name, value] as const));
      const one = names.flatMap((name) => ODD.map((value) => [[name, value] as const]));
      for (const pairs of [...all, ...one]) {
        const address = `${path}?${new URLSearchParams(pairs.map(([name, value]) => [name, value]))}`;
        const { status } = await admin("GET", address).catch((error: unknown) => {
          throw new Error(`${address}: ${error}`);
        });
        expect([address, status < 500 || status === 501]).toEqual([address, true]);
      }
    }
  }, 120_000);
});

describe("numbers that an administrator states", () => {
  const NUMBERS: readonly unknown[] = [-5, 0, 2.5, 2 ** 53 - 1, 2 ** 53, 1e308, "12", null];
  const changes = (value: unknown): [string, string, unknown][] => [
    ["POST", "/admin/keys", { key: `sk-odd-${String(value)}`, expires: value, created: value }],
    ["POST", "/admin/keys", { key: `sk-odd-budget-${String(value)}`, limits: { cost_per_day: value } }],
    ["POST", "/admin/keys", { key: `sk-odd-tokens-${String(value)}`, limits: { tokens_per_minute: value } }],
    ["PUT", "/admin/settings", { prices: { "provider-v4-flash": { input: value, output: value } } }],
    ["PUT", "/admin/settings", { responses: { store_ttl_seconds: value } }],
    [
      "PUT",
      "/admin/settings",
      { runtime: { token_refresh_interval_hours: value, account_max_inflight: value } },
    ],
    ["PUT", "/admin/settings", { history: { limit: value } }],
    ["PUT", "/admin/settings", { current_input_file: { min_chars: value } }],
    ["PUT", "/admin/alerts", { rules: { error_rate: { threshold: value, quiet_minutes: value } } }],
    [
      "POST",
      "/admin/providers",
      {
        id: `odd${NUMBERS.indexOf(value)}`,
        driver: "openai",
        base_url: "http://127.0.0.1:9",
        models: { m: { context: value, output: value, price: { input: value, output: value } } },
        first_byte_timeout_ms: value,
        models_refresh_hours: value,
      },
    ],
  ];

  it.each(NUMBERS)("are accepted or refused without harm: %s", async (value) => {
    for (const [method, path, body] of changes(value)) {
      const { status } = await admin(method, path, body);
      expect([path, body, status === 200 || status === 400 || status === 422]).toEqual([path, body, true]);
    }
    for (const path of [
      "/admin/keys",
      "/admin/config",
      "/admin/settings",
      "/admin/providers",
      "/admin/usage",
      "/admin/activity",
      "/admin/queue/status",
      "/admin/alerts",
    ]) {
      expect([path, (await admin("GET", path)).status]).toEqual([path, 200]);
    }
    const limited = { authorization: `Bearer sk-odd-budget-${String(value)}` };
    for (const headers of [{}, limited]) {
      const answer = await chat("hi", {}, headers);
      expect(await answer.text()).not.toMatch(/Infinity|NaN/);
      expect(answer.status).toBeLessThan(500);
    }
  });
});
