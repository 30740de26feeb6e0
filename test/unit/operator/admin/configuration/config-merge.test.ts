import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../../../../../src/core/config/schema.ts";
import { sha256Hex } from "../../../../../src/core/encoding/hash.ts";
import { accountIdentifiers } from "../../../../../src/operator/admin/account-identifiers.ts";
import { exportConfig, hashConfig } from "../../../../../src/operator/admin/configuration/config-export.ts";
import {
  deduplicateConfig,
  mergeConfig,
  replaceConfig,
} from "../../../../../src/operator/admin/configuration/config-merge.ts";
import { rotateKey } from "../../../../../src/operator/admin/keys/key-rotation.ts";

const name = fc.constantFrom("a", "b", "c", "d");
const maybe = <T>(value: fc.Arbitrary<T>, empty: T) => fc.oneof(value, fc.constant(empty));

const account = fc.record({
  email: maybe(
    name.map((text) => `${text}@x.test`),
    "",
  ),
  mobile: maybe(
    name.map((text) => `+${text.charCodeAt(0)}`),
    "",
  ),
  password: maybe(name, ""),
  token: maybe(name, ""),
  name: maybe(name, ""),
  remark: fc.constant(""),
  proxy_id: fc.constant(""),
});

const config: fc.Arbitrary<Config> = fc
  .record({
    keys: fc.array(name, { maxLength: 3 }),
    api_keys: fc.array(fc.record({ key: name, name: maybe(name, ""), remark: maybe(name, "") }), {
      maxLength: 4,
    }),
    accounts: fc.array(account, { maxLength: 5 }),
    model_aliases: fc.dictionary(name, fc.constant("provider-v4-pro")),
    runtime: fc.record({ account_max_inflight: fc.integer({ min: 1, max: 9 }) }),
    auto_delete: fc.record({ mode: fc.constantFrom("none", "all") }),
  })
  .map((raw) => configSchema.parse(raw));

const asRaw = (value: Config): Record<string, unknown> => JSON.parse(JSON.stringify(value));

describe("importing a configuration", () => {
  it("merges nothing twice, and nothing into itself", async () => {
    await fc.assert(
      fc.asyncProperty(config, config, async (present, imported) => {
        const before = await deduplicateConfig(present);
        expect(await mergeConfig(before, before, asRaw(before))).toEqual(before);
        const once = await mergeConfig(before, imported, asRaw(imported));
        expect(await mergeConfig(once, imported, asRaw(imported))).toEqual(once);
      }),
    );
  });

  it("loses no key, account or alias in a merge, and repeats none", async () => {
    await fc.assert(
      fc.asyncProperty(config, config, async (first, second) => {
        const [present, imported] = [await deduplicateConfig(first), await deduplicateConfig(second)];
        const merged = await mergeConfig(present, imported, asRaw(imported));
        const keys = merged.api_keys.map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        for (const { key } of [...present.api_keys, ...imported.api_keys]) expect(keys).toContain(key);
        const ids = await accountIdentifiers(merged);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of [...(await accountIdentifiers(present)), ...(await accountIdentifiers(imported))]) {
          expect(ids).toContain(id);
        }
        expect(merged.model_aliases).toEqual({ ...present.model_aliases, ...imported.model_aliases });
        expect(merged.auto_delete).toEqual(present.auto_delete);
      }),
    );
  });

  it("replaces everything but the sync's metadata and the signing secret", async () => {
    const present = configSchema.parse({
      admin: { jwt_secret: "kept" },
      sync: { hash: "h", time: 7 },
      accounts: [{ email: "gone@x.test", password: "p" }],
    });
    const imported = configSchema.parse({
      keys: ["k"],
      auto_delete: { sessions: true },
      sync: { hash: "other" },
    });
    const replaced = await replaceConfig(present, imported);
    expect(replaced).toMatchObject({
      api_keys: [{ key: "k" }],
      accounts: [],
      auto_delete: { mode: "all" },
      sync: { hash: "h", time: 7 },
      admin: { jwt_secret: "kept" },
    });
  });

  it("changes an existing account only as the import states", async () => {
    const present = configSchema.parse({
      accounts: [{ email: "a@x.test", password: "old", name: "first", disabled: true, weight: 7 }],
    });
    const merged = async (...accounts: object[]) => {
      const raw = { accounts };
      return (await mergeConfig(present, configSchema.parse(raw), raw)).accounts;
    };
    const kept = { name: "first", disabled: true, weight: 7 };
    expect(
      await merged({ password: "nobody" }, { email: "A@x.test", password: "new", name: "" }),
    ).toMatchObject([{ email: "a@x.test", password: "new", ...kept }]);
    expect(await merged({ email: "a@x.test", disabled: false, weight: 1 })).toMatchObject([
      { password: "old", disabled: false, weight: 1 },
    ]);
  });

  it("recognizes a key by its secret before a rotation", async () => {
    const rotated = await rotateKey({ key: "old", name: "n", remark: "" }, "new", 5);
    const present = configSchema.parse({ api_keys: [rotated, { key: "other" }] });
    const raw = { keys: ["other"], api_keys: [{ key: "old", remark: "said", id: rotated.id }] };
    const { api_keys } = await mergeConfig(present, configSchema.parse(raw), raw);
    expect(api_keys).toEqual([
      { ...rotated, remark: "said" },
      { key: "other", name: "", remark: "" },
    ]);
  });

  it("keeps unknown fields of a key, and updates an existing key", async () => {
    const present = configSchema.parse({
      keys: ["plain"],
      api_keys: [
        { key: "k", name: "kept", expires: 7, limits: { tokens_per_day: 1, later: 2 }, colour: "red" },
      ],
    });
    const raw = {
      api_keys: [
        { key: "k", remark: "new", disabled: true },
        { key: "n", shape: { round: true } },
      ],
    };
    const { api_keys } = await mergeConfig(present, configSchema.parse(raw), raw);
    expect(api_keys).toEqual([
      {
        key: "k",
        name: "kept",
        remark: "new",
        expires: 7,
        disabled: true,
        limits: { tokens_per_day: 1, later: 2 },
        colour: "red",
      },
      { key: "plain", name: "", remark: "" },
      { key: "n", name: "", remark: "", shape: { round: true } },
    ]);
    const replaced = await replaceConfig(configSchema.parse({}), configSchema.parse(raw));
    expect(exportConfig(replaced).api_keys).toEqual(replaced.api_keys);
    expect(replaced.api_keys[1]).toMatchObject({ shape: { round: true } });
  });

  it("recognizes a key by its digest", async () => {
    const digest = await sha256Hex("k");
    const present = configSchema.parse({ api_keys: [{ digest, last4: "k", name: "hashed" }] });
    const raw = { keys: ["k", "other"], api_keys: [{ key: "k", remark: "seen" }] };
    const { api_keys } = await mergeConfig(present, configSchema.parse(raw), raw);
    expect(api_keys).toMatchObject([{ key: "", digest, name: "hashed", remark: "seen" }, { key: "other" }]);
    expect(exportConfig({ ...present, api_keys }).keys).toEqual(["other"]);
  });

  it("adds new fields to an existing account", async () => {
    const present = configSchema.parse({ accounts: [{ email: "a@x.test", password: "p", name: "kept" }] });
    const raw = { accounts: [{ email: "A@x.test", mobile: "+1", token: "t", name: "" }] };
    const { accounts } = await mergeConfig(present, configSchema.parse(raw), raw);
    expect(accounts).toMatchObject([{ mobile: "+1", password: "p", token: "t", name: "kept" }]);
  });
});

describe("exporting a configuration", () => {
  it("is restored unchanged by a replacing import", async () => {
    await fc.assert(
      fc.asyncProperty(config, async (any) => {
        const present = await deduplicateConfig(any);
        const imported = configSchema.parse(JSON.parse(JSON.stringify(exportConfig(present))));
        expect(await replaceConfig(present, imported)).toEqual(present);
      }),
    );
  });

  it("has a hash that ignores the order of members, and the sync", async () => {
    const one = configSchema.parse({ model_aliases: { a: "provider-v4-pro", b: "provider-v4-flash" } });
    const other = configSchema.parse({
      sync: { hash: "h", time: 1 },
      model_aliases: { b: "provider-v4-flash", a: "provider-v4-pro" },
    });
    expect(await hashConfig(one)).toBe(await hashConfig(other));
    const changed = configSchema.parse({ keys: ["k"] });
    expect(await hashConfig(changed)).not.toBe(await hashConfig(one));
  });
});
