import { describe, expect, it } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { diffConfigs } from "../../../../src/operator/admin/config-diff.ts";

const SECRETS = ["sk-secret-0123456789", "a-password", "a-token", "proxy-password", "hosting-token"];

describe("the difference of two configurations", () => {
  it("names what changed by what it is called, and tells no secret", async () => {
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
    const { changes, more } = await diffConfigs(before, after);
    expect(more).toBe(0);
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

  it("is nothing between equal ones, and bounded between very different ones", async () => {
    const none = configSchema.parse({});
    expect(await diffConfigs(none, configSchema.parse({ admin: { jwt_secret: "made" } }))).toEqual({
      changes: [],
      more: 0,
    });
    const accounts = Array.from({ length: 80 }, (_, n) => ({ email: `${n}@x.test` }));
    const { changes, more } = await diffConfigs(none, configSchema.parse({ accounts }));
    expect([changes.length, more]).toEqual([50, 30]);
  });
});
