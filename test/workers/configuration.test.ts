import { env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { Configuration } from "../../durable-objects/configuration.ts";
import { StoredJson } from "../../durable-objects/stored-json.ts";
import type { PoolConfiguration } from "../../src/core/ports/pool-configuration.ts";
import { shardNames } from "../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import {
  COPY_KEY,
  type ConfigCopy,
  createConfigurationClient,
} from "../../src/runtime/cloudflare/configuration.ts";
import { createAccountPoolClient } from "../../src/runtime/cloudflare/pool-client/accounts.ts";
import { emptyConfig } from "../support/config.ts";

const emptyAccount = {
  email: "",
  mobile: "",
  password: "",
  token: "",
  name: "",
  remark: "",
  proxy_id: "",
  disabled: false,
  weight: 1,
};

describe("the configuration object", () => {
  it("stores a value of any size, and deletes the pieces of a larger earlier one", async () => {
    const stub = env.CONFIGURATION.getByName("pieces");
    await runInDurableObject(stub, (_instance, state) => {
      const stored = new StoredJson<string>(state.storage, "value");
      expect(stored.load()).toBeNull();
      const large = "ü𝄞".repeat(1_000_000);
      stored.save(large);
      expect(stored.load()).toBe(large);
      stored.save("small");
      expect(stored.load()).toBe("small");
      expect([...state.storage.kv.list({ prefix: "value" })]).toHaveLength(2);
    });
  });

  it("stores thousands of accounts with long tokens", async () => {
    const stub = env.CONFIGURATION.getByName("large");
    const { version } = await stub.get();
    const accounts = Array.from({ length: 5_000 }, (_, n) => ({
      ...emptyAccount,
      token: `${n}${"t".repeat(800)}`,
    }));
    const outcome = await stub.replace(version, { ...emptyConfig(), accounts }, null);
    expect(outcome.stored).toBe(true);
    expect((await stub.get()).config.accounts).toHaveLength(5_000);
  });
});

describe("a configuration for several pools", () => {
  it("is numbered in order, also after restarts of the object", async () => {
    const orders = await runInDurableObject(env.CONFIGURATION.getByName("starts"), async (_, state) => {
      const layout = { generation: 1, shards: shardNames(2), earlier: [], former: [] };
      state.storage.kv.put("pool layout", layout);
      state.storage.kv.put("pool starts", 2 ** 27);
      const object = new Configuration(state, env);
      const parts = [await object.poolPart(POOL_NAME), await object.poolPart(POOL_NAME)];
      return parts.map((part) => part?.shard?.order ?? 0);
    });
    expect(orders[1]).toBeGreaterThan(orders[0] ?? Number.POSITIVE_INFINITY);
  });
});

describe("an edit that cannot be sent to all pools", () => {
  it("is stored and answered, and repeated only to pools that do not know it", async () => {
    const notices: string[] = [];
    const gone = new Set(["shard-1"]);
    const ACCOUNT_POOL = new Proxy(env.ACCOUNT_POOL, {
      get: () => (name: string) => ({
        configure: async ({ version }: PoolConfiguration) => {
          if (gone.has(name)) throw new Error("gone");
          notices.push(`${name} ${version}`);
        },
      }),
    });
    await runInDurableObject(env.CONFIGURATION.getByName("untold"), async (_, state) => {
      const variables = { POOL_SHARDS: "2" };
      const object = new Configuration(state, { ...env, ACCOUNT_POOL, ...variables });
      await object.alarm();
      await state.storage.deleteAlarm();
      notices.length = 0;
      const { version } = object.get();
      const outcome = await object.replace(version, emptyConfig(), null);
      expect([outcome.stored, notices]).toEqual([true, [`${POOL_NAME} ${version + 1}`]]);
      expect(await state.storage.getAlarm(), "it is to be notices again").not.toBeNull();
      gone.clear();
      await object.alarm();
      expect(notices.slice(1)).toEqual([`shard-1 ${version + 1}`]);
      await object.alarm();
      expect(notices).toHaveLength(2);
      await object.replace(version + 1, emptyConfig(), null);
      expect(await state.storage.getAlarm(), "all know it").toBeNull();
    });
  });
});

describe("an edit", () => {
  const object = () => env.CONFIGURATION.getByName(POOL_NAME);
  /** Stores a configuration with one account and that alias. */
  async function edit(alias: string): Promise<number> {
    const { version } = await object().get();
    const accounts = [{ ...emptyAccount, email: "a@b.example", password: "secret" }];
    const config = { ...emptyConfig(), accounts, model_aliases: { [alias]: "provider-v4-pro" } };
    const { snapshot, stored } = await object().replace(version, config, null);
    expect(stored).toBe(true);
    return snapshot.version;
  }
  /** The version that the pool tells with a slot. */
  async function readToldVersion(): Promise<number | undefined> {
    const acquired = await createAccountPoolClient(env).acquire({ requestId: "r", model: "m" });
    if (!("lease" in acquired)) throw new Error("no slot was granted");
    acquired.lease.release();
    return acquired.configVersion;
  }
  async function losePool(): Promise<void> {
    const pool = env.ACCOUNT_POOL.getByName(POOL_NAME);
    await runInDurableObject(pool, (_, state) => state.abort("evicted")).catch(() => undefined);
  }

  it("is known to the pool when it is answered, and stated with each slot, also after a restart of the pool", async () => {
    const first = await edit("one");
    expect(await readToldVersion()).toBe(first);
    const second = await edit("two");
    expect(second).toBeGreaterThan(first);
    expect(await readToldVersion()).toBe(second);
    await losePool();
    expect(await readToldVersion()).toBe(second);
  });

  it("leaves a copy for isolates that cannot reach the object, which isolates with other variables do not use", async () => {
    const version = await edit("three");
    const copied = () => env.CONFIG_KV.get<ConfigCopy>(COPY_KEY, "json");
    await vi.waitFor(async () => expect((await copied())?.version).toBe(version), { timeout: 10_000 });
    const asked = vi.fn();
    const CONFIGURATION = new Proxy(env.CONFIGURATION, {
      get: () => () => {
        asked();
        throw new Error("the configuration object was asked");
      },
    });
    const isolate = createConfigurationClient({ ...env, CONFIGURATION });
    const copy = await isolate.read();
    expect(copy).toMatchObject({ version, config: { model_aliases: { three: "provider-v4-pro" } } });
    expect(copy).not.toHaveProperty("source");
    expect((await isolate.atLeast(version)).version).toBe(version);
    expect(asked).toHaveBeenCalledOnce();
    const otherwise = { ...env, CONFIGURATION, GATEWAY_CONFIG_WRITEBACK: "true" };
    await expect(createConfigurationClient(otherwise).read()).rejects.toThrow("was asked");
  });

  it("is sent to the pool by the alarm if it could not be sent at once", async () => {
    const version = await edit("four");
    expect(await runDurableObjectAlarm(object()), "there is nothing left to tell").toBe(false);
    await runInDurableObject(object(), (_, state) => state.storage.setAlarm(Date.now() + 60_000));
    await losePool();
    expect(await runDurableObjectAlarm(object())).toBe(true);
    expect(await readToldVersion()).toBe(version);
  });
});
