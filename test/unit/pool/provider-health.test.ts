import { describe, expect, test } from "vitest";
import { mergeStatuses } from "../../../src/pool/shards/shard-status.ts";
import { failure } from "../../support/failures.ts";
import { account, configuration } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

/** A provider with one token. */
class Site {
  readonly simulator = new PoolSimulator();
  #requests = 0;

  constructor() {
    this.simulator.pool.configure(configuration(["only"], { perAccount: 50 }));
  }

  ask(...works: readonly boolean[]): this {
    for (const isFine of works) {
      this.#requests += 1;
      const { lease } = this.simulator.grant({ requestId: `r${this.#requests}`, target: "only" });
      if (!isFine) this.simulator.pool.failed(lease, failure("server_error"));
      this.simulator.pool.release(lease);
    }
    return this;
  }

  get health(): string {
    return this.simulator.pool.status().troubles?.[0]?.health ?? "healthy";
  }
}

const [FINE, BAD] = [true, false];

describe("the health of a provider with one token", () => {
  test("is down after five failures in a row, and healthy once a minute without any has passed", () => {
    const site = new Site().ask(FINE, FINE, FINE, FINE, FINE, FINE);
    expect(site.simulator.pool.status()).not.toHaveProperty("troubles");
    site.ask(BAD, BAD, BAD, BAD);
    expect(site.health).toBe("degraded");
    site.ask(BAD);
    expect(site.simulator.pool.status().troubles).toEqual([
      { provider: "", health: "down", last_error: { reason: expect.any(String), at: site.simulator.now } },
    ]);
    site.ask(FINE);
    expect(site.health).toBe("degraded");
    site.simulator.advance(66_000);
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
    site.simulator.advance(590_000);
    expect(site.health).toBe("down");
    site.simulator.advance(11_000);
    expect(site.health).toBe("healthy");
    expect(site.ask(BAD).health).toBe("degraded");
  });

  test("ends when the provider is deleted or its accounts are disabled", () => {
    const site = new Site().ask(BAD, BAD, BAD, BAD, BAD);
    const disabled = account("only", { disabled: true });
    site.simulator.pool.configure({ ...configuration([]), accounts: [disabled] });
    expect(site.health).toBe("healthy");
    site.simulator.pool.configure(configuration([]));
    expect(site.health).toBe("healthy");
    site.simulator.pool.configure(configuration(["only"]));
    expect(site.health).toBe("down");
  });

  test("combines all pools", () => {
    const [one, other, unused] = [new Site().ask(BAD, BAD, BAD), new Site().ask(BAD, BAD), new Site()];
    const merged = (...sites: readonly Site[]) =>
      mergeStatuses(sites.map(({ simulator }) => simulator.pool.shardStatus())).troubles?.[0]?.health;
    expect(merged(one, unused)).toBe("degraded");
    expect(merged(one, unused, other)).toBe("down");
    expect(merged(one, new Site().ask(FINE, FINE, FINE, FINE))).toBe("degraded");
    expect(merged(unused)).toBeUndefined();
  });
});
