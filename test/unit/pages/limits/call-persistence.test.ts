import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallPersistence } from "../../../../src/pages/limits/call-persistence.ts";
import { RateWindow } from "../../../../src/pages/limits/rate-window.ts";

/** A counter whose store outlives it, as an object's does. */
class Counter {
  stored: readonly number[] = [];
  writes = 0;
  #settlesAt = Number.POSITIVE_INFINITY;
  #window = new RateWindow();
  #written = new CallPersistence(this.#window);

  take(now: number, limit: number, count = 1): boolean {
    this.pass(now);
    const { allowed } = this.#window.take(now, limit, count);
    const toWrite = allowed ? this.#written.recordCalls(now, limit, count) : null;
    if (toWrite !== null) {
      this.#write(toWrite.calls);
      this.#settlesAt = toWrite.settleAfter === null ? Number.POSITIVE_INFINITY : now + toWrite.settleAfter;
    }
    return allowed;
  }

  /** Time goes on, to `now`. */
  pass(now: number): void {
    if (now < this.#settlesAt) return;
    this.#settlesAt = Number.POSITIVE_INFINITY;
    const calls = this.#written.finishBurst();
    if (calls !== null) this.#write(calls);
  }

  /** It is put away, and comes back. */
  restart(): void {
    this.#settlesAt = Number.POSITIVE_INFINITY;
    this.#window = new RateWindow(this.stored);
    this.#written = new CallPersistence(this.#window);
  }

  #write(calls: readonly number[]): void {
    this.stored = [...calls];
    this.writes++;
  }
}

describe("the stored calls of a client", () => {
  it("are not written one by one during a burst", () => {
    const counter = new Counter();
    for (let call = 0; call < 90; call++) expect(counter.take(call * 10, 100)).toBe(true);
    expect(counter.writes).toBeLessThan(10);
  });

  it("are complete after a burst", () => {
    const counter = new Counter();
    for (let call = 0; call < 20; call++) counter.take(call * 10, 100);
    counter.pass(5_000);
    counter.restart();
    expect(counter.stored).toEqual(Array.from({ length: 20 }, (_, call) => call * 10));
  });

  it("are written one by one for a slow client, and for a low limit", () => {
    const slow = new Counter();
    for (let call = 0; call < 10; call++) slow.take(call * 3_000, 100);
    expect([slow.writes, slow.stored.length]).toEqual([10, 10]);
    const few = new Counter();
    for (let call = 0; call < 5; call++) few.take(call, 5);
    expect([few.writes, few.stored.length]).toEqual([5, 5]);
  });

  it("count until the minute of the last one is over, also after a restart during a burst", () => {
    const counter = new Counter();
    const calls = [0, 10, 1_000, 1_000].map((now) => counter.take(now, 16));
    counter.restart();
    for (let call = 0; call < 20; call++) calls.push(counter.take(60_900, 16));
    // Those of the first moments count no more, the other two do.
    expect(calls.filter(Boolean)).toHaveLength(4 + 14);
  });

  it("never allow more than the limit in any minute, for any restarts", () => {
    const step = fc.record({
      gap: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30_000 })),
      restarts: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      count: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 40 }),
        fc.array(step, { minLength: 60, maxLength: 300 }),
        (limit, steps) => {
          const counter = new Counter();
          const allowed: number[] = [];
          let now = 1_000_000;
          for (const { gap, restarts, count } of steps) {
            now += gap;
            counter.pass(now);
            if (restarts) counter.restart();
            if (counter.take(now, limit, count)) allowed.push(...Array<number>(count).fill(now));
          }
          for (const start of allowed) {
            expect(allowed.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(
              limit,
            );
          }
        },
      ),
    );
  });
});
