import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { StoredJson } from "../../durable-objects/pieces.ts";
import { emptyConfig } from "../support/config.ts";

describe("the configuration object", () => {
  it("keeps a value of any size, and no longer the pieces of a larger one before", async () => {
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
    const account = {
      email: "",
      mobile: "",
      password: "",
      name: "",
      remark: "",
      proxy_id: "",
      disabled: false,
      weight: 1,
    };
    const accounts = Array.from({ length: 5_000 }, (_, n) => ({
      ...account,
      token: `${n}${"t".repeat(800)}`,
    }));
    const outcome = await stub.replace(version, { ...emptyConfig(), accounts }, null);
    expect(outcome.stored).toBe(true);
    expect((await stub.get()).config.accounts).toHaveLength(5_000);
  });
});
