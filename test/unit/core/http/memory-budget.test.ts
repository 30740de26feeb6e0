import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryBudget, type MemoryReservation } from "../../../../src/core/http/memory-budget.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function known(budget: MemoryBudget): MemoryReservation {
  const hold = budget.createReservation();
  hold.markKnown();
  return hold;
}

/** What became of work by now. */
async function outcome(work: Promise<void>): Promise<unknown> {
  return Promise.race([
    work.then(
      () => "granted",
      (error: unknown) => error,
    ),
    vi.advanceTimersByTimeAsync(100).then(() => "waiting"),
  ]);
}

const REFUSED = { status: 503, code: "overloaded", headers: {} };

describe("the memory for bodies", () => {
  it("reserves three quarters for callers with a key", () => {
    const budget = new MemoryBudget(1000);
    const strangers = Array.from({ length: 10 }, () => budget.createReservation());
    expect(strangers.filter((hold) => hold.tryReserve(100))).toHaveLength(2);
    expect(known(budget).tryReserve(800)).toBe(true);
    expect(known(budget).tryReserve(1)).toBe(false);
    expect(budget.used).toBe(1000);
  });

  it("evicts the oldest request when memory is short, but never one with a key for one without", () => {
    const budget = new MemoryBudget(1000);
    const evicted: string[] = [];
    const keep = (hold: MemoryReservation, name: string, bytes: number) =>
      hold.reserveEvictable(bytes, () => void evicted.push(name));
    const stranger = budget.createReservation();
    keep(known(budget), "managed", 500);
    keep(stranger, "first", 100);
    const release = keep(stranger, "second", 100);
    expect(keep(stranger, "too much", 251)).toBeNull();
    expect(evicted).toEqual([]);
    expect(stranger.tryReserve(150)).toBe(true);
    expect(evicted).toEqual(["first"]);
    release?.();
    release?.();
    expect(budget.used).toBe(650);
    expect(known(budget).tryReserve(350)).toBe(true);
    expect(budget.createReservation().tryReserve(1)).toBe(false);
    expect(evicted).toEqual(["first"]);
    expect(known(budget).tryReserve(1)).toBe(true);
    expect(evicted).toEqual(["first", "managed"]);
  });

  it("goes to a waiting request as soon as another one releases it", async () => {
    const budget = new MemoryBudget(1000);
    const [first, second] = [known(budget), known(budget)];
    first.tryReserve(700);
    const waiting = second.reserveWhenFree(700);
    expect(await outcome(waiting)).toBe("waiting");
    first.release();
    expect(await outcome(waiting)).toBe("granted");
    second.release();
    expect(budget.used).toBe(0);
  });

  it("is refused after five seconds of waiting", async () => {
    const budget = new MemoryBudget(1000);
    known(budget).tryReserve(700);
    const waiting = known(budget).reserveWhenFree(700);
    expect(await outcome(waiting)).toBe("waiting");
    const refused = expect(waiting).rejects.toMatchObject(REFUSED);
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    await expect(known(budget).reserveWhenFree(1001)).rejects.toMatchObject({ status: 413 });
    await expect(budget.createReservation().reserveWhenFree(251)).rejects.toMatchObject({ status: 413 });
  });

  it("has a short queue, and a separate one for callers without a key", async () => {
    const budget = new MemoryBudget(1000);
    budget.createReservation().tryReserve(250);
    known(budget).tryReserve(750);
    let refused = 0;
    const strangers = Array.from({ length: 70 }, () =>
      budget
        .createReservation()
        .reserveWhenFree(10)
        .catch(() => {
          refused += 1;
        }),
    );
    await vi.advanceTimersByTimeAsync(50);
    expect(refused).toBe(6);
    const other = known(budget).reserveWhenFree(10);
    expect(await outcome(other)).toBe("waiting");
    other.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(strangers);
    expect(refused).toBe(70);
  });

  it("does not deadlock if waiting requests hold all of it", async () => {
    const budget = new MemoryBudget(1000);
    const [first, second] = [known(budget), known(budget)];
    first.tryReserve(500);
    second.tryReserve(500);
    const older = first.reserveWhenFree(300);
    await expect(second.reserveWhenFree(300)).rejects.toMatchObject(REFUSED);
    second.release();
    expect(await outcome(older)).toBe("granted");
  });

  it("is not given to a request that has ended", async () => {
    const budget = new MemoryBudget(1000);
    const [other, over] = [known(budget), known(budget)];
    other.tryReserve(900);
    over.tryReserve(50);
    const waiting = over.reserveWhenFree(200);
    expect(await outcome(waiting)).toBe("waiting");
    over.end();
    const refused = expect(waiting).rejects.toMatchObject(REFUSED);
    other.release();
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    expect(over.tryReserve(1)).toBe(false);
    expect(() => over.reserveNow(1)).toThrow(expect.objectContaining(REFUSED));
    await expect(over.reserveWhenFree(1)).rejects.toMatchObject(REFUSED);
    expect([over.bytes, budget.used]).toEqual([0, 0]);
  });

  it("never exceeds the limit, and is all free in the end", () => {
    const step = fc.record({ who: fc.nat(9), bytes: fc.nat(400), release: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const budget = new MemoryBudget(1000);
        const holds = Array.from({ length: 10 }, (_, n) =>
          n % 2 === 0 ? known(budget) : budget.createReservation(),
        );
        for (const { who, bytes, release } of steps) {
          if (release) holds[who]?.release();
          else holds[who]?.tryReserve(bytes);
          expect(budget.used).toBeLessThanOrEqual(1000);
        }
        for (const hold of holds) hold.release();
        expect(budget.used).toBe(0);
      }),
    );
  });
});
