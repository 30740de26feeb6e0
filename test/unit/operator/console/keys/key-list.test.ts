import { describe, expect, it } from "vitest";
import type { ApiKey } from "../../../../../src/operator/console/api/keys.ts";
import { selectKeys } from "../../../../../src/operator/console/pages/keys/key-list.ts";
import { listLimitUse } from "../../../../../src/operator/console/shared/limit-use.ts";

const UNUSED = {
  parallel: 0,
  requests_per_minute: 0,
  tokens_per_minute: 0,
  tokens_per_day: 0,
  tokens_per_month: 0,
  cost_per_day: 0,
  cost_per_month: 0,
};

const key = (name: string, more: Partial<ApiKey> = {}): ApiKey => ({
  key: "sk-****",
  id: name,
  name,
  remark: "",
  created: 0,
  expires: 0,
  disabled: false,
  hashed: false,
  grace_until: 0,
  last_used: 0,
  used_today: { requests: 0, tokens: 0, cost: 0 },
  used: UNUSED,
  team: "",
  user: "",
  limits: {},
  models: [],
  dialects: [],
  networks: [],
  allowed_tags: [],
  guardrails: [],
  unpriced_models: 0,
  history: "full",
  cache: {},
  ...more,
});

describe("the list of keys", () => {
  const keys = [
    key("beta", { last_used: 5, used_today: { requests: 1, tokens: 900, cost: 2 } }),
    key("alpha", { remark: "Agents of the build", last_used: 9 }),
    key("gamma", { disabled: true, used_today: { requests: 7, tokens: 10, cost: 0 } }),
  ];
  const names = (search: string, order: Parameters<typeof selectKeys>[2] = "created") =>
    selectKeys(keys, search, order, 10).map(({ apiKey: { name } }) => name);

  it("searches names, remarks and states", () => {
    expect(names("")).toEqual(["beta", "alpha", "gamma"]);
    expect(names("AGENTS")).toEqual(["alpha"]);
    expect(names("disabled")).toEqual(["gamma"]);
    expect(names("nothing of this kind")).toEqual([]);
  });

  it("sorts by name, by last use and by today's usage", () => {
    expect(names("", "name")).toEqual(["alpha", "beta", "gamma"]);
    expect(names("", "last_used")).toEqual(["alpha", "beta", "gamma"]);
    expect(names("", "requests")).toEqual(["gamma", "beta", "alpha"]);
    expect(names("", "tokens")).toEqual(["beta", "gamma", "alpha"]);
  });

  it("keeps each key's place in an export, which is used to find its secret", () => {
    expect(selectKeys(keys, "", "name", 10).map(({ index }) => index)).toEqual([1, 0, 2]);
  });

  it("compares the usage with each limit that is set", () => {
    const limits = { tokens_per_day: 1_000, cost_per_day: 0, cost_per_month: 2 };
    expect(listLimitUse({ limits, used: { ...UNUSED, tokens_per_day: 900, cost_per_month: 3 } })).toEqual([
      { name: "tokens_per_day", used: 900, limit: 1_000 },
      { name: "cost_per_month", used: 3, limit: 2 },
    ]);
  });

  it("finds keys that have reached a daily or monthly limit by the state “limit reached”", () => {
    const spent = key("spent", { limits: { cost_per_month: 2 }, used: { ...UNUSED, cost_per_month: 3 } });
    const busy = key("busy", { limits: { max_parallel: 1 }, used: { ...UNUSED, parallel: 1 } });
    expect(selectKeys([spent, busy], "limit reached", "created", 10)).toEqual([{ apiKey: spent, index: 0 }]);
  });
});
