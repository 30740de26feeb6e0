import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { diffConfigs } from "../../../../../src/operator/admin/editing/config-diff.ts";

const SECRETS = ["sk-secret-0123456789", "a-password", "a-token", "proxy-password", "hosting-token"];

describe("the difference of two configurations", () => {
  it("names changed entries, and hides secrets", async () => {
    const before = configSchema.parse({
      api_keys: [{ id: "key_mine", key: SECRETS[0], name: "old" }],
      accounts: [{ email: "one@x.test", password: "old-password" }, { email: "two@x.test" }],
    });
    const after = configSchema.parse({
      ...before,
      api_keys: [
        { id: "key_mine", key: SECRETS[0], name: "new", limits: { tokens_per_day: 7 } },
        { id: "key_new", key: `${SECRETS[0]}x` },
      ],
      accounts: [{ email: "one@x.test", password: SECRETS[1], token: SECRETS[2] }],
      proxies: [{ id: "p", type: "http", host: "h", port: 1, password: SECRETS[3] }],
      runtime: { account_max_inflight: 5 },
      vercel: { token: SECRETS[4] },
      admin: { jwt_secret: "signing" },
    });
    const { changes, more, removed } = await diffConfigs(before, after);
    expect([more, removed]).toEqual([0, [{ path: "accounts", names: ["two@x.test"] }]]);
    const text = JSON.stringify(changes);
    for (const secret of [...SECRETS, "signing", "old-password"]) expect(text).not.toContain(secret);
    const by = new Map(changes.map((change) => [change.path, change]));
    expect([...by.keys()].toSorted()).toEqual([
      "accounts[one@x.test].password",
      "accounts[one@x.test].token",
      "accounts[two@x.test]",
      "api_keys[key_mine].limits",
      "api_keys[key_mine].name",
      "api_keys[key_new]",
      "proxies[p]",
      "runtime.account_max_inflight",
      "vercel.token",
    ]);
    expect(by.get("api_keys[key_mine].name")).toMatchObject({ before: '"old"', after: '"new"' });
    expect(by.get("accounts[one@x.test].password")).toMatchObject({ before: '"****"', after: '"****"' });
    expect(by.get("accounts[two@x.test]")).toMatchObject({ after: null });
    expect(by.get("runtime.account_max_inflight")).toMatchObject({ before: "2", after: "5" });
  });

  it("is empty between equal ones, and limited between very different ones", async () => {
    const none = configSchema.parse({});
    expect(await diffConfigs(none, configSchema.parse({ admin: { jwt_secret: "made" } }))).toEqual({
      changes: [],
      more: 0,
      removed: [],
    });
    const accounts = Array.from({ length: 80 }, (_, n) => ({ email: `${n}@x.test` }));
    const { changes, more } = await diffConfigs(none, configSchema.parse({ accounts }));
    expect([changes.length, more]).toEqual([50, 30]);
  });

  it("names all removed entries, however many there are", async () => {
    const accounts = Array.from({ length: 80 }, (_, n) => ({ email: `${n}@x.test` }));
    const rules = [{ id: "size", type: "size", max_chars: 1 }];
    const before = configSchema.parse({ accounts, prices: { m: {} }, guardrails: { rules } });
    const { removed } = await diffConfigs(before, configSchema.parse({}));
    expect(removed.map(({ path, names }) => [path, names.length]).toSorted()).toEqual([
      ["accounts", 80],
      ["guardrails.rules", 1],
      ["prices", 1],
    ]);
  });

  it("shows the changed fields of a guardrail, and another order of them", async () => {
    const [a, b] = [
      { id: "a", type: "size", max_chars: 1 },
      { id: "b", type: "webhook", url: "https://x.test/secret-path" },
    ];
    const diff = async (rules: readonly object[]) =>
      (
        await diffConfigs(
          configSchema.parse({ guardrails: { rules: [a, b] } }),
          configSchema.parse({ guardrails: { rules } }),
        )
      ).changes;
    expect(await diff([{ ...a, max_chars: 2 }, b])).toEqual([
      { path: "guardrails.rules[a].max_chars", before: "1", after: "2" },
    ]);
    expect(await diff([b, a])).toEqual([
      { path: "guardrails.rules", before: '["a","b"]', after: '["b","a"]' },
    ]);
    expect(JSON.stringify(await diff([a]))).not.toContain("secret-path");
  });
});
