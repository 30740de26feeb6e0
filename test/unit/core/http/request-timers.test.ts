import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RequestTimers } from "../../../../src/core/http/request-timers.ts";

const HOUR_MS = 3_600_000;

/** What happens to a request's timers: a deadline is set, which may set another one; one is cancelled; time passes. */
type Step =
  | { readonly kind: "after"; readonly ms: number; readonly again: number | null }
  | { readonly kind: "cancel"; readonly which: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "end" };

const wait = fc.integer({ min: 0, max: 1_500 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("after"), ms: wait, again: fc.option(wait) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("cancel"), which: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("pass"), ms: wait }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end") }) },
);

/** One deadline that was set. */
interface Entry {
  readonly due: number;
  cancelled: boolean;
  ranAt: number | null;
}

describe("the timers of a request", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const counted = () => ({
    sets: vi.spyOn(globalThis, "setTimeout"),
    clears: vi.spyOn(globalThis, "clearTimeout"),
  });

  it("run what was not cancelled once, at its time and in order, with one native timer at most", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const timers = new RequestTimers();
        const entries: Entry[] = [];
        const cancels: (() => void)[] = [];
        const ran: Entry[] = [];
        let ended = false;
        const set = (ms: number, again: number | null) => {
          const entry: Entry = { due: performance.now() + Math.max(1, ms), cancelled: false, ranAt: null };
          entries.push(entry);
          cancels.push(
            timers.runAfter(ms, () => {
              expect(entry.ranAt).toBeNull();
              entry.ranAt = performance.now();
              ran.push(entry);
              if (again !== null) set(again, null);
            }),
          );
        };
        for (const taken of steps) {
          switch (taken.kind) {
            case "after":
              set(taken.ms, taken.again);
              break;
            case "cancel": {
              const entry = entries[taken.which];
              cancels[taken.which]?.();
              if (entry?.ranAt === null) entry.cancelled = true;
              break;
            }
            case "pass":
              vi.advanceTimersByTime(taken.ms);
              break;
            case "end":
              timers.end();
              ended = true;
          }
          const waiting = entries.some(({ cancelled, ranAt }) => !cancelled && ranAt === null);
          expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
          if (waiting) expect(vi.getTimerCount()).toBe(1);
          else if (ended) expect(vi.getTimerCount()).toBe(0);
        }
        vi.advanceTimersByTime(5_000);
        for (const { due, cancelled, ranAt } of entries) expect(ranAt).toBe(cancelled ? null : due);
        const place = (entry: Entry) => entries.indexOf(entry);
        expect(ran).toEqual(ran.toSorted((a, b) => a.due - b.due || place(a) - place(b)));
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });

  it("set and clear one native timer for a short request, however long its deadlines are", () => {
    const { sets, clears } = counted();
    const timers = new RequestTimers();
    const stopBody = timers.runAfter(60_000, expect.unreachable);
    vi.advanceTimersByTime(20);
    stopBody();
    const stopBeat = timers.runAfter(500, expect.unreachable);
    const stopSilence = timers.runAfter(30_000, expect.unreachable);
    vi.advanceTimersByTime(300);
    stopSilence();
    stopBeat();
    timers.end();
    timers.end();
    expect([sets.mock.calls.length, clears.mock.calls.length]).toEqual([1, 1]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("wait for what is left, and for nothing else, once the native timer has gone off", () => {
    const { sets } = counted();
    const timers = new RequestTimers();
    const ran: string[] = [];
    timers.runAfter(60_000, () => ran.push("long"));
    timers.runAfter(700, () => ran.push("short"));
    vi.advanceTimersByTime(699);
    expect([ran, sets.mock.calls.map(([, ms]) => ms)]).toEqual([[], [500, 200]]);
    vi.advanceTimersByTime(1);
    expect([ran, sets.mock.calls.at(-1)?.[1]]).toEqual([["short"], 500]);
    vi.advanceTimersByTime(59_300);
    expect([ran, vi.getTimerCount()]).toEqual([["short", "long"], 0]);
  });

  it("set the native timer anew for what is due before it", () => {
    const timers = new RequestTimers();
    const ran: string[] = [];
    timers.runAfter(400, () => ran.push("late"));
    timers.runAfter(100, () => ran.push("soon"));
    vi.advanceTimersByTime(100);
    expect([ran, vi.getTimerCount()]).toEqual([["soon"], 1]);
  });

  it("run the others where one throws, and leave its error to the runtime", () => {
    const timers = new RequestTimers();
    const ran: string[] = [];
    timers.runAfter(100, () => {
      throw new Error("of no use");
    });
    timers.runAfter(100, () => ran.push("at the same time"));
    timers.runAfter(150, () => ran.push("later"));
    expect(() => vi.advanceTimersByTime(100)).toThrow("of no use");
    expect(ran).toEqual(["at the same time"]);
    vi.advanceTimersByTime(50);
    expect(ran).toEqual(["at the same time", "later"]);
  });

  it("let one deadline cancel another of the same moment", () => {
    const timers = new RequestTimers();
    let cancel = () => {};
    timers.runAfter(100, () => cancel());
    cancel = timers.runAfter(100, expect.unreachable);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("serve work behind the answer too, and leave no native timer with it", () => {
    const timers = new RequestTimers();
    const ran: string[] = [];
    const before = timers.runAfter(600, () => ran.push("before"));
    timers.end();
    const behind = timers.runAfter(100, () => ran.push("behind"));
    vi.advanceTimersByTime(100);
    expect(ran).toEqual(["behind"]);
    behind();
    expect(vi.getTimerCount()).toBe(1);
    before();
    expect(vi.getTimerCount()).toBe(0);
    timers.runAfter(200, expect.unreachable)();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("go off at the next millisecond where the native timer was early by the clock", () => {
    let behind = 0;
    const timers = new RequestTimers(() => performance.now() - behind);
    const ran: number[] = [];
    const since = performance.now();
    timers.runAfter(100, () => ran.push(performance.now() - since));
    behind = 0.5;
    vi.advanceTimersByTime(200);
    expect(ran).toEqual([101]);
  });

  it.each([5_000, 58_000, HOUR_MS])(
    "run a beat within a second that is set after the clock went %i ms forwards, whatever waits besides",
    (by) => {
      let set = 0;
      const timers = new RequestTimers(() => performance.now() + set);
      const ran: number[] = [];
      const body = timers.runAfter(60_000, expect.unreachable);
      vi.advanceTimersByTime(1_000);
      set = by;
      vi.advanceTimersByTime(300);
      body();
      const since = performance.now();
      timers.runAfter(500, () => ran.push(performance.now() - since));
      vi.advanceTimersByTime(5_000);
      expect(ran).toHaveLength(1);
      expect(ran[0]).toBeLessThanOrEqual(1_000);
    },
  );

  it("run a beat at once that was due while everything stood still", () => {
    let stood = 0;
    const timers = new RequestTimers(() => performance.now() + stood);
    const ran: string[] = [];
    timers.runAfter(60_000, () => ran.push("silence"));
    vi.advanceTimersByTime(400);
    timers.runAfter(500, () => ran.push("beat"));
    // The native timer goes off 1.5 s late.
    stood = 1_550;
    vi.advanceTimersByTime(100);
    expect(ran).toEqual(["beat"]);
  });

  it.each([
    ["back", -HOUR_MS],
    ["forwards", HOUR_MS],
  ])("neither hurry nor wait for ever when the clock is set %s", (_, by) => {
    let set = 0;
    const timers = new RequestTimers(() => performance.now() + set);
    const ran: [string, number][] = [];
    const since = performance.now();
    const note = (name: string) => () => ran.push([name, performance.now() - since]);
    timers.runAfter(60_000, note("body"));
    timers.runAfter(500, note("beat"));
    vi.advanceTimersByTime(100);
    set = by;
    timers.runAfter(30_000, note("silence"));
    vi.advanceTimersByTime(1_000);
    set = 0;
    vi.advanceTimersByTime(70_000);
    const [beat, silence, body] = ran;
    expect([beat?.[0], silence?.[0], body?.[0]]).toEqual(["beat", "silence", "body"]);
    for (const [at, due] of [
      [beat?.[1], 500],
      [silence?.[1], 30_100],
      [body?.[1], 60_000],
    ] as const) {
      expect(Math.abs((at ?? 0) - due)).toBeLessThan(1_000);
    }
  });
});
