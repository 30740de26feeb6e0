import { describe, expect, it } from "vitest";
import { buildSeal, openSealedConfig, type SealedConfig } from "../../../../src/core/config/build-seal.ts";
import { ConfigurationClient } from "../../../../src/core/config/configuration-client.ts";
import {
  type ConfigStorage,
  ConfigurationCore,
  type StoredConfig,
} from "../../../../src/core/config/configuration-core.ts";
import { type Config, configSchema } from "../../../../src/core/config/schema.ts";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";

function memory(): ConfigStorage & { stored: StoredConfig | null } {
  return {
    stored: null,
    load() {
      return this.stored;
    },
    save(stored, also) {
      also?.();
      this.stored = structuredClone(stored);
    },
  };
}

const core = (env: Record<string, string> = {}, storage: ConfigStorage = memory(), build?: string) =>
  new ConfigurationCore(storage, parseVariables(env, { drivers: ["sessions"] }), build);

function clientOf(
  shared: ConfigurationCore,
  clock = { now: 0 },
  counter = { reads: 0 },
): ConfigurationClient {
  return new ConfigurationClient(
    {
      newerThan: async (known) => {
        counter.reads += 1;
        return shared.snapshot.version === known ? null : shared.snapshot;
      },
      replace: async (base, config) => shared.replace(base, config),
    },
    () => clock.now,
  );
}

describe("the configuration", () => {
  it("starts empty in a deployment, and with the development key and accounts in development", () => {
    expect(core().snapshot.config.api_keys).toEqual([]);
    const { config } = core({ GATEWAY_DEVELOPMENT: "true" }).snapshot;
    expect(config.api_keys.map(({ key }) => key)).toEqual(["sk-dev"]);
    expect(config.accounts).toHaveLength(3);
  });

  it("has the sandbox's accounts in development only for the sandbox's protocol", () => {
    const accountsOf = (env: Record<string, string>) => {
      const variables = parseVariables(
        { GATEWAY_DEVELOPMENT: "true", ...env },
        { drivers: ["sessions", "openai"] },
      );
      return new ConfigurationCore(memory(), variables, "").snapshot.config.accounts.length;
    };
    const url = { PROVIDER_BASE_URL: "http://engine.test/v1" };
    expect(accountsOf(url)).toBe(3);
    expect(accountsOf({ ...url, PROVIDER_DRIVER: "openai" })).toBe(0);
  });

  describe("of a development gateway whose default provider changes", () => {
    const ENGINE = { PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: "http://engine.test/v1" };
    const SANDBOX = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

    /** Starts on the same storage with each environment in turn. */
    function starts() {
      const storage = memory();
      return (env: Record<string, string>) => {
        const variables = parseVariables(
          { GATEWAY_DEVELOPMENT: "true", ...env },
          { drivers: ["sessions", "openai"] },
        );
        return new ConfigurationCore(storage, variables, "");
      };
    }
    const edit = (started: ConfigurationCore, change: Partial<Config>) =>
      started.replace(started.snapshot.version, { ...started.snapshot.config, ...change });
    const emails = ({ snapshot }: ConfigurationCore) => snapshot.config.accounts.map(({ email }) => email);
    const slots = ({ snapshot }: ConfigurationCore) => snapshot.config.runtime.account_max_inflight;
    const added = configSchema.parse({ accounts: [{ email: "mine", token: "t" }] }).accounts;

    it("has the sandbox's accounts again with the sandbox, after an edit beside an engine", () => {
      const start = starts();
      const engine = start(ENGINE);
      edit(engine, { keys: ["k"], accounts: added });
      expect(emails(start(ENGINE))).toEqual(["mine"]);
      const sandbox = start({});
      expect(emails(sandbox)).toEqual([...SANDBOX, "mine"]);
      expect(sandbox.snapshot.config.keys).toEqual(["k"]);
      expect(sandbox.snapshot.version).toBeGreaterThan(engine.snapshot.version);
      edit(sandbox, { keys: ["l"] });
      expect(emails(start({}))).toEqual([...SANDBOX, "mine"]);
    });

    it("has none of them beside an engine after an edit with the sandbox, and as many requests at once", () => {
      const start = starts();
      edit(start({}), { keys: ["k"] });
      const engine = start(ENGINE);
      expect([emails(engine), slots(engine)]).toEqual([[], 6]);
      edit(engine, { keys: ["l"] });
      expect([emails(start(ENGINE)), slots(start(ENGINE))]).toEqual([[], 6]);
      const bridge = { PROVIDER_BASE_URL: "http://bridge.test" };
      expect([emails(start({})), emails(start(bridge))]).toEqual([SANDBOX, SANDBOX]);
    });

    it("keeps what was changed of them, and adds none that was deleted", () => {
      const start = starts();
      const sandbox = start({});
      const [one, two] = sandbox.snapshot.config.accounts;
      if (one === undefined || two === undefined) throw new Error("there are accounts");
      edit(sandbox, { accounts: [{ ...one, name: "first" }, two] });
      const engine = start(ENGINE);
      expect(emails(engine)).toEqual([one.email]);
      expect(slots(engine)).toBe(2);
      edit(engine, { keys: ["k"] });
      const again = start({});
      expect(again.snapshot.config.accounts).toEqual([two, { ...one, name: "first" }]);
      edit(again, { accounts: [] });
      edit(start(ENGINE), { keys: ["l"] });
      expect(emails(start({}))).toEqual([]);
    });

    it("adds no second account of one address", () => {
      const start = starts();
      const engine = start(ENGINE);
      const [mine] = added;
      if (mine === undefined) throw new Error("there is an account");
      edit(engine, { accounts: [{ ...mine, email: "TWO@sandbox.test" }] });
      expect(emails(start({}))).toEqual(["one@sandbox.test", "three@sandbox.test", "TWO@sandbox.test"]);
    });

    it("keeps a number of requests at once that was set", () => {
      const start = starts();
      const sandbox = start({});
      edit(sandbox, { runtime: { ...sandbox.snapshot.config.runtime, account_max_inflight: 9 } });
      expect(slots(start(ENGINE))).toBe(9);
    });

    it("changes no account in a deployment", () => {
      const start = starts();
      edit(start({}), { keys: ["k"] });
      const deployed = start({ ...ENGINE, GATEWAY_DEVELOPMENT: "false" });
      expect(emails(deployed)).toEqual(SANDBOX);
      edit(start(ENGINE), { keys: ["l"] });
      edit(start({ GATEWAY_DEVELOPMENT: "false" }), { keys: ["m"] });
      expect(emails(start({}))).toEqual(SANDBOX);
    });
  });

  it("keeps edits after a restart", () => {
    const storage = memory();
    const first = core({}, storage);
    first.replace(first.snapshot.version, { keys: ["k"] });
    expect(core({}, storage).snapshot.config.keys).toEqual(["k"]);
  });

  describe("a configuration that a build has stored", () => {
    /** Storage with an edit that a build made. */
    function storedBy(build: string) {
      const storage = memory();
      const first = core({}, storage, build);
      first.replace(first.snapshot.version, { keys: ["k"] });
      return storage;
    }
    const WRONG = { keys: 1 };

    it("is used unchecked by the same build, and checked by any other", () => {
      const storage = storedBy("one");
      expect(core({}, storage, "one").snapshot.config).toEqual(core({}, storage).snapshot.config);
      storage.save({ version: 9, config: WRONG, source: "", build: "one" });
      expect(core({}, storage, "one").snapshot.config).toEqual(WRONG);
      expect(() => core({}, storage, "two")).toThrow();
      expect(() => core({}, storage)).toThrow();
    });

    it("is used unchecked by another build after that build has checked it once", () => {
      const storage = storedBy("one");
      const before = structuredClone(storage.stored);
      core({}, storage, "two");
      expect(storage.stored).toEqual({ ...before, build: "two" });
    });

    it("stays unchanged if another build reads it differently, so that the former build can be deployed again", () => {
      const storage = storedBy("one");
      const later = {
        version: 9,
        config: { keys: ["k"], of_a_later_version: true },
        source: "",
        build: "one",
      };
      storage.save(later);
      expect(core({}, storage, "two").snapshot.config.keys).toEqual(["k"]);
      expect(storage.stored).toEqual(later);
    });

    it("is checked in a copy, unless the build has stored that copy itself", async () => {
      const config = configSchema.parse({ keys: ["k"] });
      const seal = await buildSeal(config, "one");
      const copy: SealedConfig = JSON.parse(JSON.stringify({ config, seal }));
      expect(await openSealedConfig(copy, "one")).toBe(copy.config);
      const changed: SealedConfig = JSON.parse(JSON.stringify({ config: { ...config, keys: 1 }, seal }));
      for (const build of ["one", "two", null])
        await expect(openSealedConfig(changed, build)).rejects.toThrow();
      for (const build of ["two", null]) expect(await openSealedConfig(copy, build)).toEqual(config);
      expect(await openSealedConfig({ config }, null)).toEqual(config);
      expect(await buildSeal(config, null)).toBeNull();
    });
  });

  it("refuses an edit that was made on an older version", () => {
    const shared = core();
    const { version } = shared.snapshot;
    expect(shared.replace(version, { keys: ["a"] }).stored).toBe(true);
    expect(shared.replace(version, { keys: ["b"] }).stored).toBe(false);
    expect(shared.snapshot.config.keys).toEqual(["a"]);
  });

  it("is not changed by an invalid edit", () => {
    const shared = core();
    const before = shared.snapshot;
    expect(() => shared.replace(before.version, { runtime: { account_max_inflight: 0 } })).toThrow();
    expect(shared.snapshot).toBe(before);
  });

  it("from the environment is read-only unless write-back is enabled", async () => {
    const env = { GATEWAY_CONFIG_JSON: JSON.stringify({ keys: ["env"] }) };
    const readOnly = core(env);
    expect(readOnly.snapshot).toMatchObject({ envBacked: true, writable: false });
    await expect(clientOf(readOnly).update((config) => config)).rejects.toMatchObject({ status: 409 });
    const writable = core({ ...env, GATEWAY_CONFIG_WRITEBACK: "true" });
    expect(writable.replace(writable.snapshot.version, { keys: ["new"] }).stored).toBe(true);
  });

  it("from the environment may be base64", () => {
    const json = btoa(JSON.stringify({ keys: ["env"] }));
    expect(core({ GATEWAY_CONFIG_JSON: json }).snapshot.config.keys).toEqual(["env"]);
  });

  it("is replaced when the environment changes, although it was edited", () => {
    const storage = memory();
    const env = { GATEWAY_CONFIG_WRITEBACK: "true", GATEWAY_CONFIG_JSON: '{"keys":["one"]}' };
    const first = core(env, storage);
    first.replace(first.snapshot.version, { keys: ["edited"] });
    expect(core(env, storage).snapshot.config.keys).toEqual(["edited"]);
    const changed = core({ ...env, GATEWAY_CONFIG_JSON: '{"keys":["two"]}' }, storage);
    expect(changed.snapshot.config.keys).toEqual(["two"]);
    expect(changed.snapshot.version).toBeGreaterThan(first.snapshot.version);
  });

  it("reads the older auto_delete.sessions as all", () => {
    expect(configSchema.parse({ auto_delete: { sessions: true } }).auto_delete.mode).toBe("all");
    expect(configSchema.parse({}).auto_delete.mode).toBe("none");
  });
});

describe("an isolate's view", () => {
  it("is read once, and is never older than two seconds", async () => {
    const shared = core();
    const clock = { now: 0 };
    const counter = { reads: 0 };
    const client = clientOf(shared, clock, counter);
    await client.read();
    await client.read();
    expect(counter.reads).toBe(1);
    shared.replace(shared.snapshot.version, { keys: ["elsewhere"] });
    clock.now = 999;
    expect((await client.read()).config.keys).toEqual([]);
    expect(counter.reads).toBe(1);
    clock.now = 2_000;
    expect((await client.read()).config.keys).toEqual(["elsewhere"]);
  });

  it("shows its own edits at once", async () => {
    const client = clientOf(core());
    await client.update((config) => ({ ...config, keys: ["mine"] }));
    expect((await client.read()).config.keys).toEqual(["mine"]);
  });

  it("keeps all of 50 simultaneous edits of two isolates", async () => {
    const shared = core();
    const clients = [clientOf(shared), clientOf(shared)];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        clients[n % 2]?.update((config) => ({
          ...config,
          model_aliases: { ...config.model_aliases, [`m${n}`]: "x" },
        })),
      ),
    );
    expect(Object.keys(shared.snapshot.config.model_aliases)).toHaveLength(50);
  });
});
