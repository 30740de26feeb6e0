import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  CLAIM_MS,
  CONFIRMED_HOLD_MS,
  LEASE_TTL_MS,
  UNCONFIRMED_HOLD_MS,
} from "../../../src/pool/lease-timing.ts";
import { Isolate, type Weather, World } from "./pool-world.ts";
import { configuration } from "./rig.ts";

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const IDS = ["a", "b", "c", "d"];
const PER_ACCOUNT = 2;
const GLOBAL = 7;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Requests of several isolates, watched from outside. */
class Load {
  readonly world: World;
  readonly isolates: Isolate[];
  readonly random: () => number;
  readonly ended = { done: 0, aborted: 0, refused: 0 };
  readonly violations: string[] = [];
  /** What a message takes in tests that say so, milliseconds. */
  latency = 0;
  readonly #using = new Map<Isolate, Map<string, number>>();
  #running = 0;

  constructor(seed: number, weather: Weather, isolates = 3) {
    this.random = random(seed);
    const limits = { perAccount: PER_ACCOUNT, global: GLOBAL, queue: 20, queueWaitMs: 20_000 };
    this.world = new World(weather, configuration(IDS, limits), this.random);
    this.isolates = Array.from({ length: isolates }, () => new Isolate(this.world));
  }

  /** Requests that are under way. */
  get running(): number {
    return this.#running;
  }

  request(isolate: Isolate, ms: number, dies = false, waitMs = 10_000): void {
    this.#running += 1;
    const uses = (account: string, change: 1 | -1) => {
      const of = this.#using.get(isolate) ?? new Map<string, number>();
      this.#using.set(isolate, of);
      of.set(account, (of.get(account) ?? 0) + change);
      this.check();
    };
    void isolate.request(ms, uses, dies, waitMs).then((how) => {
      this.#running -= 1;
      this.ended[how] += 1;
    });
  }

  /** Never more users than slots. Isolates that are stopped cannot end anything, and do not count meanwhile. */
  check(): void {
    const users = new Map<string, number>();
    for (const [isolate, of] of this.#using) {
      if (isolate.stopped) continue;
      for (const [account, count] of of) users.set(account, (users.get(account) ?? 0) + count);
    }
    let all = 0;
    for (const [account, count] of users) {
      all += count;
      if (count > PER_ACCOUNT) this.violations.push(`${count} users of ${account} at ${Date.now()}`);
    }
    if (all > GLOBAL) this.violations.push(`${all} users at ${Date.now()}`);
  }

  using(): number {
    let all = 0;
    for (const of of this.#using.values()) for (const count of of.values()) all += count;
    return all;
  }

  async quiet(): Promise<void> {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(this.#running).toBe(0);
    // What is left of holders that died without a word ends by itself.
    await vi.advanceTimersByTimeAsync(LEASE_TTL_MS);
    const { in_use, waiting } = this.world.pool.status();
    expect({ in_use, waiting }).toEqual({ in_use: 0, waiting: 0 });
    expect([...this.world.store.isolates]).toEqual([]);
  }
}

const FAIR: Weather = { latency: 40, down: 300, drift: 0.0001, skew: 3_600_000 };
const ROUGH: Weather = { latency: 700, down: 3_000, drift: 0.01, skew: 3_600_000 };

/** Half a minute of load with restarts, and in rough weather with isolates that are stopped or cut off. */
async function storm(load: Load, rough: boolean): Promise<void> {
  const { random: dice, isolates, world } = load;
  const any = () => isolates[Math.floor(dice() * isolates.length)] ?? new Isolate(world);
  for (let passed = 0; passed < 30_000; ) {
    const what = dice();
    if (what < 0.72) {
      const ms = dice() < 0.4 ? dice() * 300 : 1_000 + dice() * 9_000;
      load.request(any(), ms, dice() < 0.1);
    } else if (what < 0.76) {
      // What takes the pool away may take the way to it away as well.
      if (rough && dice() < 0.5) any().cutOff(dice() * 16_000);
      world.restart();
    } else if (rough && what < 0.79) any().stop(dice() ** 2 * 14_000);
    else if (rough && what < 0.82) any().cutOff(dice() ** 2 * 16_000);
    const ms = dice() * 250;
    await vi.advanceTimersByTimeAsync(ms);
    passed += ms;
    load.check();
  }
}

const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 4) }, (_, index) => index + 1);

describe("whatever happens to the pool, its holders and the network", () => {
  test.each(seeds)("no slot has two users, and none is lost (seed %i)", async (seed) => {
    const load = new Load(seed, ROUGH);
    await storm(load, true);
    expect(load.violations).toEqual([]);
    expect(load.world.restarts).toBeGreaterThan(0);
    await load.quiet();
  });

  test.each(seeds)("a restart ends nobody's work (seed %i)", async (seed) => {
    const load = new Load(seed, FAIR);
    await storm(load, false);
    expect(load.violations).toEqual([]);
    await load.quiet();
    expect(load.ended).toMatchObject({ aborted: 0 });
    expect(load.ended.done).toBeGreaterThan(50);
  });
});

describe("an isolate that was kept from running", () => {
  const CALM: Weather = { latency: 0, down: 0, drift: 0, skew: 0 };
  /** Some requests of one isolate which stops after so long, for as long as that. */
  async function stalled(at: number, ms: number, count = 1, lasting = 8_000, late = 50): Promise<Load> {
    const load = new Load(1, CALM, 1);
    load.latency = 50;
    vi.spyOn(load.world, "delay").mockImplementation(() => load.latency);
    const [isolate] = load.isolates;
    if (isolate === undefined) throw new Error("no isolate");
    for (let n = 0; n < count; n += 1) load.request(isolate, lasting);
    await vi.advanceTimersByTimeAsync(at);
    isolate.stop(ms);
    load.latency = late;
    await vi.advanceTimersByTimeAsync(ms - 10);
    return load;
  }

  test.each([
    ["before its first beat", 200],
    ["while it waits for the answer to one", 660],
  ])("goes on if its slot is still its own, although the pool is slow: %s", async (_, at) => {
    const load = await stalled(at, 3_000);
    load.latency = 600;
    await load.quiet();
    expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
  });

  test("ends its work within two seconds if nobody says that its slot is still its own", async () => {
    const load = await stalled(200, 3_000);
    load.latency = 30_000;
    await vi.advanceTimersByTimeAsync(2_100);
    expect(load.ended).toMatchObject({ aborted: 1 });
  });

  test("goes on although the next look at its lease comes while the answer to the late one is awaited", async () => {
    // Its last beat is from 1,100: 0.65 s are left when it goes on, and the answer takes 0.9.
    const load = await stalled(1_300, 9_150, 1, 20_000);
    load.latency = 450;
    await load.quiet();
    expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
  });

  test.each([600, 620, 635])(
    "goes on if it was stopped after its beat was sent, for %i ms: until a moment after its time",
    async (ms) => {
      const load = await stalled(610, ms, 1, 8_000, 700);
      await load.quiet();
      expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
    },
  );

  test("asks once for all of its leases, not once for each", async () => {
    const load = await stalled(200, 3_000, 7);
    load.latency = 20;
    const beat = vi.spyOn(load.world.pool, "beat");
    await vi.advanceTimersByTimeAsync(300);
    expect(beat.mock.calls.length).toBeGreaterThan(0);
    expect(beat.mock.calls.length).toBeLessThanOrEqual(2);
    await load.quiet();
    expect(load.ended).toMatchObject({ done: 7, aborted: 0 });
  });
});

describe("an isolate that runs, and hears nothing of the pool", () => {
  const DRIFT = 0.01;
  /** Of a clock that is slow, and of timers, which count whole milliseconds. */
  const inaccurate = (ms: number) => ms * (1 + 2 * DRIFT) + 5;

  /** An isolate with a clock of its own, cut off while it has three requests; tells when the last one stops. */
  async function deaf(seed: number, at: number, atOnce: boolean): Promise<number> {
    const load = new Load(seed, { latency: 0, down: 0, drift: DRIFT, skew: 3_600_000 }, 1);
    const [isolate] = load.isolates;
    if (isolate === undefined) throw new Error("no isolate");
    const from = Date.now();
    for (let n = 0; n < 3; n += 1) load.request(isolate, 60_000);
    await vi.advanceTimersByTimeAsync(at);
    expect(load.using()).toBe(3);
    isolate.cutOff(40_000, atOnce);
    while (load.using() > 0 && Date.now() < from + 30_000) await vi.advanceTimersByTimeAsync(5);
    const ended = Date.now() - from;
    await load.quiet();
    return ended;
  }

  describe.each([
    ["its messages get no answer", false],
    ["its messages fail at once", true],
  ])("%s", (_, atOnce) => {
    test.each([1, 4, 7, 10])(
      "uses no slot for longer than it may: its first beat is not heard (seed %i)",
      async (seed) => {
        expect(await deaf(seed, 10 + 30 * seed, atOnce)).toBeLessThanOrEqual(inaccurate(UNCONFIRMED_HOLD_MS));
      },
    );

    test.each([1, 4, 7, 10])(
      "uses no slot for longer than it may: beats were heard (seed %i)",
      async (seed) => {
        const at = 600 + 97 * seed;
        expect(await deaf(seed, at, atOnce)).toBeLessThanOrEqual(at + inaccurate(CONFIRMED_HOLD_MS));
      },
    );

    test.each([520, 700, 800, 900, 1_000, 1_050, 1_300])(
      "uses no slot that was granted after %i ms in the queue, unless the pool says that it is its own",
      async (waited) => {
        const load = new Load(1, { latency: 0, down: 0, drift: 0, skew: 0 }, 2);
        vi.spyOn(load.world, "delay").mockImplementation(() => 20);
        const [first, second] = load.isolates;
        if (first === undefined || second === undefined) throw new Error("no isolates");
        for (let n = 0; n < GLOBAL; n += 1) load.request(first, waited);
        await vi.advanceTimersByTimeAsync(1);
        load.request(second, 30_000);
        while (load.world.pool.status().waiting === 0) await vi.advanceTimersByTimeAsync(1);
        while (load.world.pool.status().waiting > 0) await vi.advanceTimersByTimeAsync(1);
        // The grant is the last thing that it hears.
        if (atOnce) {
          vi.spyOn(load.world.pool, "beat").mockImplementation(() => {
            throw new Error("overloaded");
          });
        }
        await vi.advanceTimersByTimeAsync(22);
        second.cutOff(20_000, atOnce);
        await vi.advanceTimersByTimeAsync(300);
        expect(load.using()).toBe(0);
        await load.quiet();
      },
    );
  });
});

describe("a grant that was long on its way", () => {
  function far(latency: number): { load: Load; isolate: Isolate } {
    const load = new Load(1, { latency: 0, down: 0, drift: 0, skew: 0 }, 1);
    load.latency = latency;
    vi.spyOn(load.world, "delay").mockImplementation(() => load.latency);
    const [isolate] = load.isolates;
    if (isolate === undefined) throw new Error("no isolate");
    return { load, isolate };
  }

  test.each([130, 150, 200, 240])(
    "is used at once if half a second has not passed: 2 × %i ms",
    async (ms) => {
      const { load, isolate } = far(ms);
      const beat = vi.spyOn(load.world.pool, "beat");
      load.request(isolate, 490 - 2 * ms);
      await vi.advanceTimersByTimeAsync(2 * ms + 5);
      expect(load.using()).toBe(1);
      await load.quiet();
      expect(beat, "a short request costs no message more").not.toHaveBeenCalled();
    },
  );

  test.each([130, 150, 200, 240])(
    "leaves time for a slow answer to its first beat: 2 × %i ms",
    async (ms) => {
      const { load, isolate } = far(ms);
      load.request(isolate, 5_000);
      await vi.advanceTimersByTimeAsync(2 * ms);
      load.latency = 340;
      await vi.advanceTimersByTimeAsync(1_500);
      expect(load.using()).toBe(1);
      await load.quiet();
      expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
    },
  );

  test("is used as soon as the pool has heard of it, also in the beat of another request", async () => {
    const { load, isolate } = far(20);
    load.request(isolate, 10_000);
    await vi.advanceTimersByTimeAsync(440);
    load.latency = 260;
    load.request(isolate, 5_000);
    // Its own beat, as soon as it is granted, is under way for long; the next one of the other request is not.
    await vi.advanceTimersByTimeAsync(515);
    load.latency = 2_000;
    await vi.advanceTimersByTimeAsync(15);
    load.latency = 20;
    await vi.advanceTimersByTimeAsync(700);
    expect(load.using()).toBe(2);
    await load.quiet();
  });
});

describe("after a restart", () => {
  test("slots that nobody holds are granted within the claim period, those that are held are not", async () => {
    const load = new Load(1, { ...FAIR, down: 0 });
    const [first, second] = load.isolates;
    if (first === undefined || second === undefined) throw new Error("no isolates");
    for (let n = 0; n < 7; n += 1) load.request(n % 2 === 0 ? first : second, n < 5 ? 30_000 : 1_200);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(load.using()).toBe(5);
    load.world.restart();
    const from = Date.now();
    load.request(second, 10_000);
    load.request(second, 10_000);
    while (load.using() < 7) await vi.advanceTimersByTimeAsync(10);
    expect(Date.now() - from).toBeLessThanOrEqual(CLAIM_MS + 100);
    load.request(second, 10, false, 5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(load.using(), "the third one waits").toBe(7);
    await load.quiet();
    expect(load.ended).toMatchObject({ aborted: 0, refused: 1 });
  });

  test("nobody is awaited whose last lease was a short one, and whose long ones ended before it", async () => {
    const load = new Load(1, { latency: 0, down: 0, drift: 0, skew: 0 }, 2);
    const [first, second] = load.isolates;
    if (first === undefined || second === undefined) throw new Error("no isolates");
    load.request(first, 1_990);
    await vi.advanceTimersByTimeAsync(1_900);
    load.request(first, 350);
    await vi.advanceTimersByTimeAsync(50);
    load.world.restart();
    const from = Date.now();
    await vi.advanceTimersByTimeAsync(400);
    expect(load.using()).toBe(0);
    const beat = vi.spyOn(load.world.pool, "beat");
    load.request(first, 300);
    await vi.advanceTimersByTimeAsync(350);
    expect(beat, "it has been said").not.toHaveBeenCalled();
    for (let n = 0; n < GLOBAL; n += 1) load.request(second, 10_000);
    while (load.using() < GLOBAL && Date.now() < from + LEASE_TTL_MS) await vi.advanceTimersByTimeAsync(10);
    expect(Date.now() - from).toBeLessThanOrEqual(CLAIM_MS + 100);
    await load.quiet();
  });

  test("one message in each beat renews all leases of an isolate", async () => {
    const load = new Load(1, { latency: 0, down: 0, drift: 0, skew: 0 }, 1);
    const [isolate] = load.isolates;
    if (isolate === undefined) throw new Error("no isolate");
    const beat = vi.spyOn(load.world.pool, "beat");
    load.request(isolate, 400);
    await vi.advanceTimersByTimeAsync(450);
    expect(beat, "a short request costs none").not.toHaveBeenCalled();
    for (let n = 0; n < 7; n += 1) {
      load.request(isolate, 20_000);
      await vi.advanceTimersByTimeAsync(30);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(beat.mock.calls.length).toBeGreaterThan(15);
    expect(beat.mock.calls.length).toBeLessThan(28);
    expect(beat.mock.calls.at(-1)?.[1]).toHaveLength(7);
    await load.quiet();
  });
});
