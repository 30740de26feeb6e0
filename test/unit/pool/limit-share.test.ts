import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LimitLayout, LimitShare, type LimitUsage, TOTAL_UNITS } from "../../../src/pool/limit-share.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";
import "../../support/properties.ts";

const names = (count: number) => Array.from({ length: count }, (_, i) => `shard-${i}`);
const idle: LimitUsage = { inUse: 0, heldBack: 0, wanted: 0, most: 1_000 };
const using = (inUse: number, wanted = 0): LimitUsage => ({ inUse, heldBack: 0, wanted, most: 1_000 });

/** Parts of one limit, by the shards' names. */
function parts(total: number, shards: readonly string[], layout: Partial<LimitLayout> = {}) {
  return shards.map((name) => {
    const part = new LimitShare(name, "global", new MemoryPoolStore());
    part.configure(total, { shards, founders: shards, ...layout });
    return part;
  });
}

/** One asks another and is told at once. */
function trade(
  from: LimitShare,
  to: LimitShare,
  at: { from: string; to: string },
  use: LimitUsage,
  given: LimitUsage,
) {
  const missing = to.missing(use);
  if (missing > 0)
    to.recordGiven(at.from, from.handleRequest(at.to, to.ask(at.from, missing), given, 0).given);
}

describe("the part of a limit", () => {
  it("is an equal one at first, in whole slots, whatever the number of shards", () => {
    for (const count of [1, 2, 3, 5, 7, 12, 16, 32, 64]) {
      const slots = parts(5 * count, names(count)).map((part) => part.slots);
      expect(slots).toEqual(names(count).map(() => 5));
    }
    for (const [index, part] of parts(10, names(4)).entries())
      expect([index, part.slots]).toEqual([index, 2]);
  });

  it("is none where no limit is set, and none at all for a shard that is given nothing", () => {
    const [one] = parts(0, names(3));
    expect([one?.slots, one?.usableSlots(0), one?.missing(using(5, 5))]).toEqual([null, null, 0]);
    const late = new LimitShare("late", "global", new MemoryPoolStore());
    late.configure(12, { shards: ["a", "late"], founders: ["a"] });
    expect([late.slots, late.usableSlots(0)]).toEqual([0, 0]);
  });

  it("grows by what the others do not use, of which they keep half", () => {
    const [one, other] = parts(100, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    const ask = one.ask("b", one.missing(using(50, 40)));
    one.recordGiven("b", other.handleRequest("a", ask, using(10), 0).given);
    // 40 idle: 20 of them went.
    expect([one.slots, other.slots]).toEqual([70, 30]);
  });

  it("is not asked for what falls free by itself after a restart, but none of that is given away", () => {
    const [one, other] = parts(20, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    const restarted: LimitUsage = { inUse: 10, heldBack: 8, wanted: 5, most: 1_000 };
    expect(one.missing(restarted)).toBe(0);
    expect(one.missing({ ...restarted, heldBack: 4 })).toBeGreaterThan(0);
    expect(one.handleRequest("b", other.ask("a", TOTAL_UNITS), { ...restarted, wanted: 0 }, 0).given).toBe(0);
  });

  it("never falls below what is in use, unless the limit does", () => {
    const [one, other] = parts(20, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    trade(other, one, { from: "b", to: "a" }, using(10, 10), using(9));
    expect(other.slots).toBeGreaterThanOrEqual(9);
    other.configure(4, { shards: ["a", "b"], founders: ["a", "b"] });
    const before = other.units;
    other.handleRequest("a", one.ask("b", TOTAL_UNITS), using(9), 0);
    expect(other.units).toBe(before);
  });

  it("moves between shards to the last slot while one alone needs it", () => {
    const shards = names(5);
    const all = parts(13, shards);
    const [hot, ...others] = all;
    for (let round = 0; round < 10; round += 1)
      for (const [index, other] of others.entries())
        if (hot !== undefined)
          trade(other, hot, { from: `shard-${index + 1}`, to: "shard-0" }, using(hot.slots ?? 0, 20), idle);
    expect(hot?.slots).toBe(13);
  });

  it("is let fall free down to an equal share for one that has less, and kept for no other", () => {
    const [one, other] = parts(20, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    for (let i = 0; i < 9; i += 1) trade(other, one, { from: "b", to: "a" }, using(one.slots ?? 0, 20), idle);
    expect([one.slots, other.slots]).toEqual([20, 0]);
    const full = using(20, 30);
    const ask = other.ask("a", other.missing(using(0, 20)));
    expect(one.handleRequest("b", ask, full, 0).given).toBe(0);
    expect(one.usableSlots(0)).toBe(10);
    expect(one.usableSlots(one.owedUntil)).toBe(20);
    one.handleRequest("b", ask, full, 0);
    other.recordGiven("a", one.handleRequest("b", ask, using(12, 30), 100).given);
    expect([one.slots, other.slots]).toEqual([12, 8]);
    expect(one.usableSlots(100)).toBe(10);
    // Who has its share gets what is idle alone.
    expect(
      one.handleRequest("b", { ...other.ask("a", TOTAL_UNITS), has: TOTAL_UNITS / 2 }, using(12, 30), 200)
        .given,
    ).toBe(other.ask("a", TOTAL_UNITS).got);
    expect(one.usableSlots(200)).toBe(12);
  });

  it("of a limit smaller than the number of shards is a slot in turn", () => {
    const shards = names(3);
    const [one, other] = parts(1, shards, { founders: ["shard-0"] });
    if (one === undefined || other === undefined) throw new Error("none");
    expect([one.slots, other.slots]).toEqual([1, 0]);
    one.handleRequest("shard-1", other.ask("shard-0", other.missing(using(0, 1))), using(1, 5), 0);
    expect(one.usableSlots(0)).toBe(0);
    trade(one, other, { from: "shard-0", to: "shard-1" }, using(0, 1), using(0, 5));
    expect([one.slots, other.slots]).toEqual([0, 1]);
  });

  it("of a shard that has left goes to whoever asks, but for what is still in use", () => {
    const [one, other] = parts(20, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    const layout = { shards: ["a"], founders: ["a", "b"], former: ["b"] };
    for (const part of [one, other]) part.configure(20, layout);
    expect(other.missing(using(10, 10))).toBe(0);
    const asked = () => other.handleRequest("a", one.ask("b", one.missing(using(10, 10))), using(inUse), 0);
    let inUse = 4;
    const first = asked();
    expect(first.gone).toBeUndefined();
    one.recordGiven("b", first.given);
    expect([one.slots, other.slots]).toEqual([16, 4]);
    inUse = 0;
    const last = asked();
    one.recordGiven("b", last.given);
    expect(last.gone).toBe(true);
    expect([one.slots, one.units]).toEqual([20, TOTAL_UNITS]);
  });

  it("is asked for by a shard that has just been added before anybody waits there, up to an equal share", () => {
    const shards = ["a", "b"];
    const [one, late] = parts(20, shards, { founders: ["a"] });
    if (one === undefined || late === undefined) throw new Error("none");
    trade(one, late, { from: "a", to: "b" }, idle, using(8, 10));
    expect([one.slots, late.slots]).toEqual([10, 10]);
    expect(late.missing(idle)).toBe(0);
  });

  it("is known after a restart", () => {
    const store = new MemoryPoolStore();
    const layout = { shards: ["a", "b"], founders: ["a", "b"] };
    const before = new LimitShare("a", "global", store);
    before.configure(100, layout);
    before.recordGiven("b", TOTAL_UNITS / 4);
    before.handleRequest("b", { units: TOTAL_UNITS / 2, has: 0, got: 0 }, using(60), 0);
    const after = new LimitShare("a", "global", store);
    after.configure(100, layout);
    expect([after.units, after.slots]).toEqual([before.units, before.slots]);
    expect(new LimitShare("a", "queue", store).units).toBe(0);
  });

  it("comes with the next answer when one was lost, and counts once however often it is told", () => {
    const [one, other] = parts(100, ["a", "b"]);
    if (one === undefined || other === undefined) throw new Error("none");
    const ask = one.ask("b", TOTAL_UNITS / 10);
    other.handleRequest("a", ask, idle, 0);
    const again = other.handleRequest("a", ask, idle, 0);
    expect(again.given).toBe(ask.units);
    expect(one.recordGiven("b", again.given)).toBe(ask.units);
    expect(one.recordGiven("b", again.given)).toBe(0);
    expect(one.recordGiven("b", 1)).toBe(0);
    expect(one.units + other.units).toBe(TOTAL_UNITS);
  });
});

/** What may happen to shards that trade, in any order. */
type Step = readonly [what: number, one: number, other: number, amount: number];
const steps = fc.array(fc.tuple(fc.nat(99), fc.nat(5), fc.nat(5), fc.nat(300)), { maxLength: 300 });

interface Message {
  readonly from: number;
  readonly to: number;
  readonly ask?: ReturnType<LimitShare["ask"]>;
  readonly given?: number;
}

/** Shards that use slots and trade, over a network that loses, repeats and reorders, and storage that survives them. */
class Network {
  readonly names = names(6);
  readonly stores = this.names.map(() => new MemoryPoolStore());
  readonly limits: number[];
  readonly inUse = this.names.map(() => 0);
  readonly layouts: LimitLayout[];
  readonly messages: Message[] = [];
  parts: LimitShare[];
  now = 0;

  constructor(limit: number) {
    this.limits = this.names.map(() => limit);
    const layout = { shards: this.names.slice(0, 4), founders: this.names.slice(0, 3) };
    this.layouts = this.names.map(() => layout);
    this.parts = this.names.map((_, i) => this.#started(i));
  }

  #started(index: number): LimitShare {
    const part = new LimitShare(
      this.names[index] ?? "",
      "global",
      this.stores[index] ?? new MemoryPoolStore(),
    );
    const layout = this.layouts[index];
    if (layout !== undefined) part.configure(this.limits[index] ?? 0, layout);
    return part;
  }

  get all(): number {
    return this.inUse.reduce((sum, used) => sum + used, 0);
  }

  get units(): number {
    return this.parts.reduce((sum, { units }) => sum + units, 0);
  }

  #use(index: number, amount: number): LimitUsage {
    return { inUse: this.inUse[index] ?? 0, heldBack: 0, wanted: amount % 40, most: 400 };
  }

  /** @param edited whether the limit is edited, too */
  step([what, one, other, amount]: Step, edited: boolean): void {
    const part = this.parts[one];
    const layout = this.layouts[one];
    if (part === undefined || layout === undefined) return;
    this.now += amount;
    if (what < 30) {
      if (one !== other)
        this.messages.push({ from: one, to: other, ask: part.ask(this.names[other] ?? "", amount * 20_000) });
    } else if (what < 70) {
      const at = amount % Math.max(1, this.messages.length);
      // A third stay under way, to come once more.
      const [message] = amount % 3 === 0 ? this.messages.slice(at, at + 1) : this.messages.splice(at, 1);
      if (message !== undefined) this.#arrives(message, amount);
    } else if (what < 73) this.messages.splice(0, amount % 4);
    else if (what < 85) {
      while ((this.inUse[one] ?? 0) < (part.usableSlots(this.now) ?? 400) && amount % 2 === 0)
        this.inUse[one] = (this.inUse[one] ?? 0) + 1;
    } else if (what < 93) this.inUse[one] = Math.max(0, (this.inUse[one] ?? 0) - (amount % 30));
    else if (what < 96) this.parts[one] = this.#started(one);
    else if (what < 98) {
      const shards = this.names.filter((_, i) => i === one || (amount >> i) % 2 === 0);
      this.layouts[other] = { ...layout, shards, former: this.names };
      this.parts[other]?.configure(this.limits[other] ?? 0, this.layouts[other] ?? layout);
    } else if (edited) {
      this.limits[one] = 1 + amount;
      part.configure(1 + amount, layout);
    }
  }

  #arrives({ from, to, ask, given }: Message, amount: number): void {
    const peer = this.names[from] ?? "";
    const part = this.parts[to];
    if (ask !== undefined && part !== undefined) {
      const answer = part.handleRequest(peer, ask, this.#use(to, amount), this.now);
      this.messages.push({ from: to, to: from, given: answer.given });
    }
    if (given !== undefined) part?.recordGiven(peer, given);
  }
}

describe("parts in any weather", () => {
  it("are never more than the limit together, and never negative", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), steps, (limit, all) => {
        const network = new Network(limit);
        for (const step of all) {
          network.step(step, false);
          expect(network.units).toBeLessThanOrEqual(TOTAL_UNITS);
          expect(Math.min(...network.parts.map(({ units }) => units))).toBeGreaterThanOrEqual(0);
          expect(network.parts.reduce((sum, { slots }) => sum + (slots ?? 0), 0)).toBeLessThanOrEqual(limit);
          expect(network.all).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it("are never used above the largest limit that any shard has known, while edits are on their way", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), steps, (limit, all) => {
        const network = new Network(limit);
        let largest = limit;
        for (const step of all) {
          network.step(step, true);
          largest = Math.max(largest, ...network.limits);
          expect(network.all).toBeLessThanOrEqual(largest);
          expect(network.parts.reduce((sum, { slots }) => sum + (slots ?? 0), 0)).toBeLessThanOrEqual(
            Math.max(...network.limits),
          );
        }
      }),
    );
  });

  it("are whole again once every pair has spoken", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const network = new Network(100);
        for (const step of all) network.step(step, false);
        for (const [to, part] of network.parts.entries())
          for (const [from, other] of network.parts.entries()) {
            if (from === to) continue;
            const [name, peer] = [network.names[to] ?? "", network.names[from] ?? ""];
            const nothing = { units: 0, has: TOTAL_UNITS, got: 0 };
            part.recordGiven(peer, other.handleRequest(name, nothing, using(100), network.now).given);
          }
        expect(network.units).toBe(TOTAL_UNITS);
      }),
    );
  });
});
