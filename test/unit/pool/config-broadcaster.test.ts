import { describe, expect, it } from "vitest";
import { ConfigBroadcaster } from "../../../src/pool/config-broadcaster.ts";
import { SimulatedClock } from "../../support/pool-simulator/clock.ts";

const POOLS = ["one", "two"];

/** Pools that receive broadcasts. A silent one answers when its promise resolves. */
function createPools() {
  const clock = new SimulatedClock(1_800_000_000_000);
  const news = new ConfigBroadcaster(clock);
  const notified: string[] = [];
  const silent = new Map<string, PromiseWithResolvers<void>>();
  const pass = (ms: number) => clock.pass(ms);
  /** Whether all pools have acknowledged after `ms`; null: the broadcast still waits. */
  const tell = async (ms: number) => {
    let isKnown: boolean | null = null;
    const telling = news.broadcast(POOLS, async (pool) => {
      notified.push(pool);
      await silent.get(pool)?.promise;
    });
    void telling.then(() => {
      isKnown = news.isAcknowledgedBy(POOLS);
    });
    await pass(ms);
    return isKnown;
  };
  return { news, notified, silent, tell, pass };
}

describe("a configuration for the pools", () => {
  it("is sent once to all", async () => {
    const { news, notified, tell } = createPools();
    expect(await tell(10), "after a start nobody is known to know it").toBe(true);
    expect(notified).toEqual(POOLS);
    news.markChanged();
    expect(news.isAcknowledgedBy(POOLS)).toBe(false);
    expect(await tell(10)).toBe(true);
    expect(await tell(10)).toBe(true);
    expect(notified).toEqual([...POOLS, ...POOLS]);
  });

  it("waits some seconds for a silent pool, and counts its later acknowledgement", async () => {
    const { pass, news, notified, silent, tell } = createPools();
    const late = Promise.withResolvers<void>();
    silent.set("two", late);
    expect(await tell(2_000), "it may be slow").toBeNull();
    await pass(4_000);
    expect(news.isAcknowledgedBy(["one"])).toBe(true);
    expect(news.isAcknowledgedBy(POOLS)).toBe(false);
    expect(await tell(6_000)).toBe(false);
    expect(notified, "who knows it is not told again").toEqual(["one", "two", "two"]);
    late.resolve();
    await pass(10);
    expect(news.isAcknowledgedBy(POOLS)).toBe(true);
  });

  it("is not acknowledged by an answer to an earlier one", async () => {
    const { pass, news, silent, tell } = createPools();
    const late = Promise.withResolvers<void>();
    silent.set("two", late);
    await tell(10);
    news.markChanged();
    late.resolve();
    await pass(10);
    expect(news.isAcknowledgedBy(POOLS)).toBe(false);
  });

  it("is repeated at growing intervals, and soon after an edit", () => {
    const { news } = createPools();
    const pauses = Array.from({ length: 6 }, () => news.nextRetryMs());
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    news.markChanged();
    expect(news.nextRetryMs()).toBe(2_000);
  });
});
