import { describe, expect, it } from "vitest";
import type { PoolLimits } from "../../../../src/core/ports/pool-configuration.ts";
import { CLAIM_MS } from "../../../../src/pool/lease-timing.ts";
import { buildShardConfiguration, shardNames } from "../../../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../../../src/pool/shards/pool-name.ts";
import { configuration, Rig, request, result } from "../rig.ts";

const IDS = Array.from({ length: 12 }, (_, n) => `a${n}`);
const GLOBAL = 2;

/** Configures the rig's pool as the first of `count` shards. */
function configure(rig: Rig, count: number, order: number, limits: Partial<PoolLimits> = { global: GLOBAL }) {
  const layout = { generation: order, shards: shardNames(count), earlier: [], former: [] };
  rig.pool.configure(buildShardConfiguration(configuration(IDS, limits), layout, POOL_NAME, order));
}

const holder = { requestId: "r", model: "m", dialect: "", caller: "" };

/** The names that a refusal tells what to acquire. */
function sharedNames(rig: Rig) {
  const { shared, lease } = rig.grant({ sharesLimits: true });
  rig.pool.release(lease);
  if (shared?.slots === undefined) throw new Error("no limit is shared");
  return { slots: shared.slots, queue: shared.queue };
}

describe("the limits of all shards together", () => {
  it("are configured at the first shard alone, and only if they are set and there are several", () => {
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

  it("hold over a restart of the first shard", () => {
    const rig = new Rig();
    configure(rig, 4, 1);
    const { slots } = sharedNames(rig);
    const leases = [rig.grant({ provider: slots }), rig.grant({ provider: slots })];
    rig.restart();
    configure(rig, 4, 2);
    expect(rig.pool.acquire(request({ provider: slots, waitMs: 0 }))).toMatchObject({
      refused: "queue_timeout",
    });
    // One holder has survived. The other's slot is free after the claim period.
    expect(rig.pool.resumeLease(leases[0]?.lease ?? "", slots, holder)).not.toBeNull();
    rig.advance(CLAIM_MS);
    rig.grant({ provider: slots });
    expect(result(rig.queue({ provider: slots }))).toBeNull();
  });

  it("count what a single pool had granted before, and what was shared when it is a single one again", () => {
    const rig = new Rig();
    rig.pool.configure(configuration(IDS, { global: GLOBAL }));
    const before = [rig.grant(), rig.grant()];
    configure(rig, 4, 1);
    const { slots } = sharedNames(rig);
    const waiting = rig.queue({ provider: slots });
    rig.pool.release(before[0]?.lease ?? "");
    expect(result(waiting)).toBe(slots);
    // A request with a shared slot and an account of this shard counts once.
    rig.grant({ sharesLimits: true });
    configure(rig, 1, 2);
    const next = rig.queue();
    rig.pool.release(before[1]?.lease ?? "");
    expect(IDS).toContain(result(next));
    expect(rig.pool.acquire(request({ waitMs: 0 }))).toMatchObject({ refused: "queue_timeout" });
  });

  it("show in no status and no list of accounts, and no caller can pin them", () => {
    const rig = new Rig();
    configure(rig, 4, 1);
    const { slots, queue } = sharedNames(rig);
    rig.grant({ provider: slots });
    rig.queue({ provider: queue });
    const { in_use, waiting, leases, available_accounts, conditions } = rig.pool.status();
    expect({ in_use, waiting, leases }).toEqual({ in_use: 0, waiting: 0, leases: [] });
    expect(IDS).toEqual(expect.arrayContaining([...available_accounts]));
    expect(Object.values(conditions).reduce((sum, count) => sum + count, 0)).toBe(available_accounts.length);
    expect(rig.pool.health().every(({ id }) => IDS.includes(id))).toBe(true);
    expect(rig.pool.acquire(request({ target: slots, provider: "*" }))).toEqual({
      refused: "target_not_found",
    });
  });
});
