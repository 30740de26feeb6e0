import { describe, expect, test, vi } from "vitest";
import type { AccountPoolClient } from "../../../src/core/ports/accounts.ts";
import {
  CLAIM_MS,
  CONFIRMED_HOLD_MS,
  LEASE_TTL_MS,
  UNCONFIRMED_HOLD_MS,
} from "../../../src/pool/leases/lease-timing.ts";
import { createAccountPoolClient } from "../../../src/runtime/cloudflare/pool-client/accounts.ts";
import { createRandom, SimulatedClock } from "../../support/pool-simulator/clock.ts";
import { configuration } from "../../support/pool-simulator/fixtures.ts";
import { SimulatedIsolate } from "../../support/pool-simulator/isolate.ts";
import { Network } from "../../support/pool-simulator/network.ts";
import { PoolObject } from "../../support/pool-simulator/pool-object.ts";
import { createPoolStub } from "../../support/pool-simulator/pool-stub.ts";
import { SlotUsage } from "../../support/pool-simulator/slot-usage.ts";

const START = 1_800_000_000_000;
const IDS = ["a", "b", "c", "d"];
const PER_ACCOUNT = 2;
const GLOBAL = 7;

/** Times in milliseconds; each is the longest. */
interface Conditions {
  /** Travel time of a message. */
  readonly latency?: number;
  /** How long the pool cannot be reached after a restart. */
  readonly downtime?: number;
  /** How much faster or slower the clocks of isolates run, as a share. */
  readonly clockDrift?: number;
  /** How far the clocks of the pool and of isolates differ. */
  readonly clockSkew?: number;
}

/** An isolate, and its client of the pool. */
interface LoadedIsolate {
  readonly isolate: SimulatedIsolate;
  readonly pool: AccountPoolClient;
}

/** Requests of several isolates at one pool object. */
class Load {
  readonly clock = new SimulatedClock(START);
  readonly random: () => number;
  readonly object: PoolObject;
  readonly isolates: readonly LoadedIsolate[];
  readonly usage = new SlotUsage<SimulatedIsolate>(PER_ACCOUNT, GLOBAL, (isolate) => isolate.isStopped);
  readonly ended = { done: 0, aborted: 0, refused: 0 };
  /** The same travel time for each message, instead of a random one. */
  latency: number | null = null;
  readonly #downtime: number;
  #running = 0;

  constructor(seed: number, conditions: Conditions = {}, isolates = 3) {
    const { latency = 0, downtime = 0, clockDrift = 0, clockSkew = 0 } = conditions;
    const { clock } = this;
    const random = createRandom(seed);
    const clockOffset = () => (random() - 0.5) * clockSkew;
    const limits = { perAccount: PER_ACCOUNT, global: GLOBAL, queue: 20, queueWaitMs: 20_000 };
    this.random = random;
    this.#downtime = downtime;
    this.object = new PoolObject(clock, { configuration: configuration(IDS, limits), clockOffset });
    const network = new Network({
      clock,
      latency: () => this.latency ?? random() ** 3 * latency,
      isAnswerLost: () => random() < 0.5,
    });
    this.isolates = Array.from({ length: isolates }, () => {
      const drift = (random() * 2 - 1) * clockDrift;
      const isolate = new SimulatedIsolate(clock, { clockDrift: drift, clockOffset: clockOffset() });
      const stub = createPoolStub(this.object, network, isolate);
      return { isolate, pool: createAccountPoolClient({ ACCOUNT_POOL: { getByName: () => stub } }, isolate) };
    });
  }

  isolate(index: number): LoadedIsolate {
    const isolate = this.isolates[index];
    if (isolate === undefined) throw new Error("there are fewer isolates");
    return isolate;
  }

  restart(): void {
    this.object.restart({}, this.random() * this.#downtime);
  }

  request({ isolate, pool }: LoadedIsolate, ms: number, dies = false, waitMs = 10_000): void {
    this.#running += 1;
    void isolate.request(pool, this.usage, { ms, dies, waitMs }).then((how) => {
      this.#running -= 1;
      this.ended[how] += 1;
    });
  }

  get violations(): number {
    return this.usage.doubleGrants + this.usage.overLimit;
  }

  /** Lets all requests end. Nothing may be left then. */
  async expectIdle(): Promise<void> {
    await this.clock.pass(60_000);
    expect(this.#running).toBe(0);
    // The leases of holders that died end by themselves.
    await this.clock.pass(LEASE_TTL_MS);
    const { in_use, waiting } = this.object.pool.status();
    expect({ in_use, waiting }).toEqual({ in_use: 0, waiting: 0 });
    expect([...this.object.store.isolates]).toEqual([]);
  }
}

const USUAL: Conditions = { latency: 40, downtime: 300, clockDrift: 0.0001, clockSkew: 3_600_000 };
const BAD: Conditions = { latency: 700, downtime: 3_000, clockDrift: 0.01, clockSkew: 3_600_000 };

/** Half a minute of load with restarts, and with `faults` also isolates that are stopped or cut off. */
async function runLoad(load: Load, faults: boolean): Promise<void> {
  const { random, isolates, clock } = load;
  const any = () => load.isolate(Math.floor(random() * isolates.length));
  for (let passed = 0; passed < 30_000; ) {
    const what = random();
    if (what < 0.72) {
      const ms = random() < 0.4 ? random() * 300 : 1_000 + random() * 9_000;
      load.request(any(), ms, random() < 0.1);
    } else if (what < 0.76) {
      // What takes the pool away may take the way to it away as well.
      if (faults && random() < 0.5) any().isolate.cutOff(random() * 16_000);
      load.restart();
    } else if (faults && what < 0.79) any().isolate.stop(random() ** 2 * 14_000);
    else if (faults && what < 0.82) any().isolate.cutOff(random() ** 2 * 16_000);
    const ms = Math.ceil(random() * 250);
    await clock.pass(ms);
    passed += ms;
    load.usage.check();
  }
}

const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 4) }, (_, index) => index + 1);

describe("for any events of the pool, its holders and the network", () => {
  test.each(seeds)("no slot has two users, and none is lost (seed %i)", async (seed) => {
    const load = new Load(seed, BAD);
    await runLoad(load, true);
    expect(load.violations).toBe(0);
    expect(load.object.restarts).toBeGreaterThan(0);
    await load.expectIdle();
  });

  test.each(seeds)("a restart ends no request (seed %i)", async (seed) => {
    const load = new Load(seed, USUAL);
    await runLoad(load, false);
    expect(load.violations).toBe(0);
    await load.expectIdle();
    expect(load.ended).toMatchObject({ aborted: 0 });
    expect(load.ended.done).toBeGreaterThan(50);
  });
});

describe("an isolate that was suspended", () => {
  /** Some requests of one isolate which stops after so long, for as long as that. */
  async function stalled(at: number, ms: number, count = 1, lasting = 8_000, late = 50): Promise<Load> {
    const load = new Load(1, {}, 1);
    load.latency = 50;
    const isolate = load.isolate(0);
    for (let n = 0; n < count; n += 1) load.request(isolate, lasting);
    await load.clock.pass(at);
    isolate.isolate.stop(ms);
    load.latency = late;
    await load.clock.pass(ms - 10);
    return load;
  }

  test.each([
    ["before its first beat", 200],
    ["while it waits for the answer to one", 660],
  ])("continues if its slot is still its own, although the pool is slow: %s", async (_, at) => {
    const load = await stalled(at, 3_000);
    load.latency = 600;
    await load.expectIdle();
    expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
  });

  test("ends its work within two seconds if the pool does not confirm its slot", async () => {
    const load = await stalled(200, 3_000);
    load.latency = 30_000;
    await load.clock.pass(2_100);
    expect(load.ended).toMatchObject({ aborted: 1 });
  });

  test("continues if the next heartbeat comes due while the late one is unanswered", async () => {
    // Its last beat is from 1,100: 0.65 s are left when it goes on, and the answer takes 0.9.
    const load = await stalled(1_300, 9_150, 1, 20_000);
    load.latency = 450;
    await load.expectIdle();
    expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
  });

  test.each([600, 620, 635])(
    "continues if it was suspended after its heartbeat was sent, for %i ms",
    async (ms) => {
      const load = await stalled(610, ms, 1, 8_000, 700);
      await load.expectIdle();
      expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
    },
  );

  test("sends one request for all of its leases", async () => {
    const load = await stalled(200, 3_000, 7);
    load.latency = 20;
    const beat = vi.spyOn(load.object.pool, "beat");
    await load.clock.pass(300);
    expect(beat.mock.calls.length).toBeGreaterThan(0);
    expect(beat.mock.calls.length).toBeLessThanOrEqual(2);
    await load.expectIdle();
    expect(load.ended).toMatchObject({ done: 7, aborted: 0 });
  });
});

describe("an isolate without answers of the pool", () => {
  const DRIFT = 0.01;
  /** Of a clock that is slow, and of timers, which count whole milliseconds. */
  const inaccurate = (ms: number) => ms * (1 + 2 * DRIFT) + 5;

  /** An isolate with a clock of its own, cut off while it has three requests; tells when the last one stops. */
  async function deaf(seed: number, at: number, atOnce: boolean): Promise<number> {
    const load = new Load(seed, { clockDrift: DRIFT, clockSkew: 3_600_000 }, 1);
    const isolate = load.isolate(0);
    const from = load.clock.now();
    for (let n = 0; n < 3; n += 1) load.request(isolate, 60_000);
    await load.clock.pass(at);
    expect(load.usage.inUse).toBe(3);
    isolate.isolate.cutOff(40_000, atOnce);
    while (load.usage.inUse > 0 && load.clock.now() < from + 30_000) await load.clock.pass(5);
    const ended = load.clock.now() - from;
    await load.expectIdle();
    return ended;
  }

  describe.each([
    ["its messages get no answer", false],
    ["its messages fail at once", true],
  ])("%s", (_, atOnce) => {
    test.each([1, 4, 7, 10])(
      "uses no slot for too long if its first heartbeat gets lost (seed %i)",
      async (seed) => {
        expect(await deaf(seed, 10 + 30 * seed, atOnce)).toBeLessThanOrEqual(inaccurate(UNCONFIRMED_HOLD_MS));
      },
    );

    test.each([1, 4, 7, 10])(
      "uses no slot for too long after successful heartbeats (seed %i)",
      async (seed) => {
        const at = 600 + 97 * seed;
        expect(await deaf(seed, at, atOnce)).toBeLessThanOrEqual(at + inaccurate(CONFIRMED_HOLD_MS));
      },
    );

    test.each([520, 700, 800, 900, 1_000, 1_050, 1_300])(
      "uses a slot that was granted after %i ms in the queue only if the pool confirms it",
      async (waited) => {
        const load = new Load(1, {}, 2);
        load.latency = 20;
        const [first, second] = [load.isolate(0), load.isolate(1)];
        for (let n = 0; n < GLOBAL; n += 1) load.request(first, waited);
        await load.clock.pass(1);
        load.request(second, 30_000);
        while (load.object.pool.status().waiting === 0) await load.clock.pass(1);
        while (load.object.pool.status().waiting > 0) await load.clock.pass(1);
        // The grant is the last thing that it hears.
        if (atOnce) {
          vi.spyOn(load.object.pool, "beat").mockImplementation(() => {
            throw new Error("overloaded");
          });
        }
        await load.clock.pass(22);
        second.isolate.cutOff(20_000, atOnce);
        await load.clock.pass(300);
        expect(load.usage.inUse).toBe(0);
        await load.expectIdle();
      },
    );
  });
});

describe("a grant that arrives late", () => {
  function far(latency: number): { load: Load; isolate: LoadedIsolate } {
    const load = new Load(1, {}, 1);
    load.latency = latency;
    const isolate = load.isolate(0);
    return { load, isolate };
  }

  test.each([130, 150, 200, 240])("is used at once within half a second: 2 × %i ms", async (ms) => {
    const { load, isolate } = far(ms);
    const beat = vi.spyOn(load.object.pool, "beat");
    load.request(isolate, 490 - 2 * ms);
    await load.clock.pass(2 * ms + 5);
    expect(load.usage.inUse).toBe(1);
    await load.expectIdle();
    expect(beat, "a short request costs no message more").not.toHaveBeenCalled();
  });

  test.each([130, 150, 200, 240])(
    "leaves time for a slow answer to its first heartbeat: 2 × %i ms",
    async (ms) => {
      const { load, isolate } = far(ms);
      load.request(isolate, 5_000);
      await load.clock.pass(2 * ms);
      load.latency = 340;
      await load.clock.pass(1_500);
      expect(load.usage.inUse).toBe(1);
      await load.expectIdle();
      expect(load.ended).toMatchObject({ done: 1, aborted: 0 });
    },
  );

  test("is used as soon as the pool confirms it, also in the heartbeat of another request", async () => {
    const { load, isolate } = far(20);
    load.request(isolate, 10_000);
    await load.clock.pass(440);
    load.latency = 260;
    load.request(isolate, 5_000);
    // Its own beat, as soon as it is granted, is under way for long; the next one of the other request is not.
    await load.clock.pass(515);
    load.latency = 2_000;
    await load.clock.pass(15);
    load.latency = 20;
    await load.clock.pass(700);
    expect(load.usage.inUse).toBe(2);
    await load.expectIdle();
  });
});

describe("after a restart", () => {
  test("free slots are granted within the claim period, and held ones are not", async () => {
    const load = new Load(1, { ...USUAL, downtime: 0 });
    const [first, second] = [load.isolate(0), load.isolate(1)];
    for (let n = 0; n < 7; n += 1) load.request(n % 2 === 0 ? first : second, n < 5 ? 30_000 : 1_200);
    await load.clock.pass(3_000);
    expect(load.usage.inUse).toBe(5);
    load.restart();
    const from = load.clock.now();
    load.request(second, 10_000);
    load.request(second, 10_000);
    while (load.usage.inUse < 7) await load.clock.pass(10);
    expect(load.clock.now() - from).toBeLessThanOrEqual(CLAIM_MS + 100);
    load.request(second, 10, false, 5_000);
    await load.clock.pass(5_000);
    expect(load.usage.inUse, "the third one waits").toBe(7);
    await load.expectIdle();
    expect(load.ended).toMatchObject({ aborted: 0, refused: 1 });
  });

  test("the pool does not wait for a holder whose leases have ended", async () => {
    const load = new Load(1, {}, 2);
    const [first, second] = [load.isolate(0), load.isolate(1)];
    load.request(first, 1_990);
    await load.clock.pass(1_900);
    load.request(first, 350);
    await load.clock.pass(50);
    load.restart();
    const from = load.clock.now();
    await load.clock.pass(400);
    expect(load.usage.inUse).toBe(0);
    const beat = vi.spyOn(load.object.pool, "beat");
    load.request(first, 300);
    await load.clock.pass(350);
    expect(beat, "it has been said").not.toHaveBeenCalled();
    for (let n = 0; n < GLOBAL; n += 1) load.request(second, 10_000);
    while (load.usage.inUse < GLOBAL && load.clock.now() < from + LEASE_TTL_MS) await load.clock.pass(10);
    expect(load.clock.now() - from).toBeLessThanOrEqual(CLAIM_MS + 100);
    await load.expectIdle();
  });

  test("one message per heartbeat renews all leases of an isolate", async () => {
    const load = new Load(1, {}, 1);
    const isolate = load.isolate(0);
    const beat = vi.spyOn(load.object.pool, "beat");
    load.request(isolate, 400);
    await load.clock.pass(450);
    expect(beat, "a short request costs none").not.toHaveBeenCalled();
    for (let n = 0; n < 7; n += 1) {
      load.request(isolate, 20_000);
      await load.clock.pass(30);
    }
    await load.clock.pass(10_000);
    expect(beat.mock.calls.length).toBeGreaterThan(15);
    expect(beat.mock.calls.length).toBeLessThan(28);
    expect(beat.mock.calls.at(-1)?.[1]).toHaveLength(7);
    await load.expectIdle();
  });
});
