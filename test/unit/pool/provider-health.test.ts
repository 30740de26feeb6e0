import { describe, expect, test } from "vitest";
import { mergeStatuses } from "../../../src/pool/shards/shard-status.ts";
import { failure } from "../../support/failures.ts";
import { account, configuration, Rig } from "./rig.ts";

/** A provider with one token. */
class Site {
  readonly rig = new Rig();
  #requests = 0;

  constructor() {
    this.rig.pool.configure(configuration(["only"], { perAccount: 50 }));
  }

  ask(...works: readonly boolean[]): this {
    for (const isFine of works) {
      this.#requests += 1;
      const { lease } = this.rig.grant({ requestId: `r${this.#requests}`, target: "only" });
      if (!isFine) this.rig.pool.failed(lease, failure("server_error"));
      this.rig.pool.release(lease);
    }
    return this;
  }

  get health(): string {
    return this.rig.pool.status().troubles?.[0]?.health ?? "healthy";
  }
}

const [FINE, BAD] = [true, false];

describe("the health of a provider with one token", () => {
  test("is down after five failures in a row, and healthy once a minute without any has passed", () => {
    const site = new Site().ask(FINE, FINE, FINE, FINE, FINE, FINE);
    expect(site.rig.pool.status()).not.toHaveProperty("troubles");
    site.ask(BAD, BAD, BAD, BAD);
    expect(site.health).toBe("degraded");
    site.ask(BAD);
    expect(site.rig.pool.status().troubles).toEqual([
      { provider: "", health: "down", last_error: { reason: expect.any(String), at: site.rig.now } },
    ]);
    site.ask(FINE);
    expect(site.health).toBe("degraded");
    site.rig.now += 66_000;
    expect(site.health).toBe("healthy");
  });

  test("is down when most requests of a minute fail", () => {
    const site = new Site().ask(BAD, FINE, BAD, FINE);
    expect(site.health).toBe("degraded");
    expect(site.ask(BAD).health).toBe("down");
    expect(site.ask(FINE).health).toBe("degraded");
  });

  test("is known for ten minutes after the last failure", () => {
    const site = new Site().ask(BAD, BAD, BAD, BAD, BAD);
    site.rig.now += 590_000;
    expect(site.health).toBe("down");
    site.rig.now += 11_000;
    expect(site.health).toBe("healthy");
    expect(site.ask(BAD).health).toBe("degraded");
  });

  test("is none once the provider is deleted or its accounts are disabled", () => {
    const site = new Site().ask(BAD, BAD, BAD, BAD, BAD);
    const disabled = account("only", { disabled: true });
    site.rig.pool.configure({ ...configuration([]), accounts: [disabled] });
    expect(site.health).toBe("healthy");
    site.rig.pool.configure(configuration([]));
    expect(site.health).toBe("healthy");
    site.rig.pool.configure(configuration(["only"]));
    expect(site.health).toBe("down");
  });

  test("is that of all pools together", () => {
    const [one, other, unused] = [new Site().ask(BAD, BAD, BAD), new Site().ask(BAD, BAD), new Site()];
    const merged = (...sites: readonly Site[]) =>
      mergeStatuses(sites.map(({ rig }) => rig.pool.shardStatus())).troubles?.[0]?.health;
    expect(merged(one, unused)).toBe("degraded");
    expect(merged(one, unused, other)).toBe("down");
    expect(merged(one, new Site().ask(FINE, FINE, FINE, FINE))).toBe("degraded");
    expect(merged(unused)).toBeUndefined();
  });
});
