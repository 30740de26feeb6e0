import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BodyBudget, type BodyHold } from "../../../src/http/body-budget.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function known(budget: BodyBudget): BodyHold {
  const hold = budget.hold();
  hold.trust();
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
  it("leaves three quarters to those with a key, whatever strangers send", () => {
    const budget = new BodyBudget(1000);
    const strangers = Array.from({ length: 10 }, () => budget.hold());
    expect(strangers.filter((hold) => hold.take(100))).toHaveLength(2);
    expect(known(budget).take(800)).toBe(true);
    expect(known(budget).take(1)).toBe(false);
    expect(budget.used).toBe(1000);
  });

  it("evicts the oldest when memory is short, and nothing of a managed key for a stranger", () => {
    const budget = new BodyBudget(1000);
    const evicted: string[] = [];
    const keep = (hold: BodyHold, name: string, bytes: number) =>
      hold.takeEvictable(bytes, () => void evicted.push(name));
    const stranger = budget.hold();
    keep(known(budget), "managed", 500);
    keep(stranger, "first", 100);
    const release = keep(stranger, "second", 100);
    expect(keep(stranger, "too much", 251)).toBeNull();
    expect(evicted).toEqual([]);
    expect(stranger.take(150)).toBe(true);
    expect(evicted).toEqual(["first"]);
    release?.();
    release?.();
    expect(budget.used).toBe(650);
    expect(known(budget).take(350)).toBe(true);
    expect(budget.hold().take(1)).toBe(false);
    expect(evicted).toEqual(["first"]);
    expect(known(budget).take(1)).toBe(true);
    expect(evicted).toEqual(["first", "managed"]);
  });

  it("is given to whoever waits as soon as somebody gives it back", async () => {
    const budget = new BodyBudget(1000);
    const [first, second] = [known(budget), known(budget)];
    first.take(700);
    const waiting = second.wait(700);
    expect(await outcome(waiting)).toBe("waiting");
    first.release();
    expect(await outcome(waiting)).toBe("granted");
    second.release();
    expect(budget.used).toBe(0);
  });

  it("is refused after five seconds, and never when there is no room at all", async () => {
    const budget = new BodyBudget(1000);
    known(budget).take(700);
    const waiting = known(budget).wait(700);
    expect(await outcome(waiting)).toBe("waiting");
    const refused = expect(waiting).rejects.toMatchObject(REFUSED);
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    await expect(known(budget).wait(1001)).rejects.toMatchObject({ status: 413 });
    await expect(budget.hold().wait(251)).rejects.toMatchObject({ status: 413 });
  });

  it("is waited for by a few only, and by strangers apart from the others", async () => {
    const budget = new BodyBudget(1000);
    budget.hold().take(250);
    known(budget).take(750);
    let refused = 0;
    const strangers = Array.from({ length: 70 }, () =>
      budget
        .hold()
        .wait(10)
        .catch(() => {
          refused += 1;
        }),
    );
    await vi.advanceTimersByTimeAsync(50);
    expect(refused).toBe(6);
    const other = known(budget).wait(10);
    expect(await outcome(other)).toBe("waiting");
    other.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(strangers);
    expect(refused).toBe(70);
  });

  it("does not lock up when all of it is held by those who wait for more", async () => {
    const budget = new BodyBudget(1000);
    const [first, second] = [known(budget), known(budget)];
    first.take(500);
    second.take(500);
    const older = first.wait(300);
    await expect(second.wait(300)).rejects.toMatchObject(REFUSED);
    second.release();
    expect(await outcome(older)).toBe("granted");
  });

  it("is given to nobody whose request is over: he would keep it", async () => {
    const budget = new BodyBudget(1000);
    const [other, over] = [known(budget), known(budget)];
    other.take(900);
    over.take(50);
    const waiting = over.wait(200);
    expect(await outcome(waiting)).toBe("waiting");
    over.end();
    const refused = expect(waiting).rejects.toMatchObject(REFUSED);
    other.release();
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    expect(over.take(1)).toBe(false);
    expect(() => over.demand(1)).toThrow(expect.objectContaining(REFUSED));
    await expect(over.wait(1)).rejects.toMatchObject(REFUSED);
    expect([over.bytes, budget.used]).toEqual([0, 0]);
  });

  it("is never more than there is, and all there again in the end", () => {
    const step = fc.record({ who: fc.nat(9), bytes: fc.nat(400), release: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const budget = new BodyBudget(1000);
        const holds = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? known(budget) : budget.hold()));
        for (const { who, bytes, release } of steps) {
          if (release) holds[who]?.release();
          else holds[who]?.take(bytes);
          expect(budget.used).toBeLessThanOrEqual(1000);
        }
        for (const hold of holds) hold.release();
        expect(budget.used).toBe(0);
      }),
    );
  });
});
