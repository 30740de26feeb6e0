import { describe, expect, it } from "vitest";
import type { PoolLimits } from "../../../../src/core/ports/pool-configuration.ts";
import { CLAIM_MS } from "../../../../src/pool/leases/lease-timing.ts";
import { buildShardConfiguration, shardNames } from "../../../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../../../src/pool/shards/pool-name.ts";
import { configuration, request, result } from "../../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../../support/pool-simulator/pool-simulator.ts";

const IDS = Array.from({ length: 12 }, (_, n) => `a${n}`);
const GLOBAL = 2;

/** Configures the simulator's pool as the first of `count` shards. */
function configure(
  simulator: PoolSimulator,
  count: number,
  order: number,
  limits: Partial<PoolLimits> = { global: GLOBAL },
) {
  const layout = { generation: order, shards: shardNames(count), earlier: [], former: [] };
  simulator.pool.configure(buildShardConfiguration(configuration(IDS, limits), layout, POOL_NAME, order));
}

const holder = { requestId: "r", model: "m", dialect: "", caller: "" };

/** The names that a refusal tells what to acquire. */
function sharedNames(simulator: PoolSimulator) {
  const { shared, lease } = simulator.grant({ sharesLimits: true });
  simulator.pool.release(lease);
  if (shared?.slots === undefined) throw new Error("no limit is shared");
  return { slots: shared.slots, queue: shared.queue };
}

describe("the limits of all shards together", () => {
  it("are configured only at the first shard, if they are set and there are several shards", () => {
    const counted = (count: number, name: string, limits: Partial<PoolLimits>) => {
      const layout = { generation: 1, shards: shardNames(count), earlier: [], former: [] };
      const { accounts } = buildShardConfiguration(configuration(IDS, limits), layout, name, 1);
      return accounts.filter(({ id }) => !IDS.includes(id)).length;
    };
    expect(counted(4, POOL_NAME, { global: 2 })).toBe(2);
    expect(counted(4, POOL_NAME, { queue: 2 })).toBe(1);
    expect(counted(4, "shard-1", { global: 2, queue: 2 })).toBe(0);
    expect(counted(4, POOL_NAME, {})).toBe(0);
    expect(counted(1, POOL_NAME, { global: 2, queue: 2 })).toBe(0);
  });

  it("apply after a restart of the first shard", () => {
    const simulator = new PoolSimulator();
    configure(simulator, 4, 1);
    const { slots } = sharedNames(simulator);
    const leases = [simulator.grant({ provider: slots }), simulator.grant({ provider: slots })];
    simulator.restart();
    configure(simulator, 4, 2);
    expect(simulator.pool.acquire(request({ provider: slots, waitMs: 0 }))).toMatchObject({
      refused: "queue_timeout",
    });
    // One holder has survived. The other's slot is free after the claim period.
    expect(simulator.pool.resumeLease(leases[0]?.lease ?? "", slots, holder)).not.toBeNull();
    simulator.advance(CLAIM_MS);
    simulator.grant({ provider: slots });
    expect(result(simulator.queue({ provider: slots }))).toBeNull();
  });

  it("count earlier grants when the number of pools changes", () => {
    const simulator = new PoolSimulator();
    simulator.pool.configure(configuration(IDS, { global: GLOBAL }));
    const before = [simulator.grant(), simulator.grant()];
    configure(simulator, 4, 1);
    const { slots } = sharedNames(simulator);
    const waiting = simulator.queue({ provider: slots });
    simulator.pool.release(before[0]?.lease ?? "");
    expect(result(waiting)).toBe(slots);
    // A request with a shared slot and an account of this shard counts once.
    simulator.grant({ sharesLimits: true });
    configure(simulator, 1, 2);
    const next = simulator.queue();
    simulator.pool.release(before[1]?.lease ?? "");
    expect(IDS).toContain(result(next));
    expect(simulator.pool.acquire(request({ waitMs: 0 }))).toMatchObject({ refused: "queue_timeout" });
  });

  it("are hidden from status and lists of accounts, and cannot be pinned", () => {
    const simulator = new PoolSimulator();
    configure(simulator, 4, 1);
    const { slots, queue } = sharedNames(simulator);
    simulator.grant({ provider: slots });
    simulator.queue({ provider: queue });
    const { in_use, waiting, leases, available_accounts, conditions } = simulator.pool.status();
    expect({ in_use, waiting, leases }).toEqual({ in_use: 0, waiting: 0, leases: [] });
    expect(IDS).toEqual(expect.arrayContaining([...available_accounts]));
    expect(Object.values(conditions).reduce((sum, count) => sum + count, 0)).toBe(available_accounts.length);
    expect(simulator.pool.health().every(({ id }) => IDS.includes(id))).toBe(true);
    expect(simulator.pool.acquire(request({ target: slots, provider: "*" }))).toEqual({
      refused: "target_not_found",
    });
  });
});
