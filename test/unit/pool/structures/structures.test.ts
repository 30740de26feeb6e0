import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextCooldown } from "../../../../src/pool/health/circuit-breaker.ts";
import { Heap } from "../../../../src/pool/structures/heap.ts";
import { LinkedList, ListNode } from "../../../../src/pool/structures/linked-list.ts";
import { failure } from "../../../support/failures.ts";

describe("heap", () => {
  test("always has the smallest key first", () => {
    const operation = fc.record({ item: fc.nat(12), key: fc.option(fc.nat(50), { nil: null }) });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const heap = new Heap<number>();
        const model = new Map<number, number>();
        for (const { item, key } of operations) {
          if (key === null) {
            heap.delete(item);
            model.delete(item);
          } else {
            heap.set(item, key);
            model.set(item, key);
          }
          expect(heap.size).toBe(model.size);
          expect(heap.firstKey).toBe(Math.min(...model.values()));
          if (heap.first !== undefined) expect(model.get(heap.first)).toBe(heap.firstKey);
          expect(heap.has(item)).toBe(model.has(item));
        }
      }),
    );
  });
});

class Item extends ListNode<Item> {
  readonly name: number;

  constructor(name: number) {
    super();
    this.name = name;
  }
}

describe("linked list", () => {
  test("behaves as an array of which each member occurs once", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: fc.nat(8), push: fc.boolean() })), (operations) => {
        const items = Array.from({ length: 9 }, (_, name) => new Item(name));
        const list = new LinkedList<Item>();
        let model: number[] = [];
        for (const { name, push } of operations) {
          const item = items[name];
          if (item === undefined) continue;
          model = model.filter((it) => it !== name);
          if (push) {
            list.push(item);
            model.push(name);
          } else {
            list.remove(item);
          }
          expect(Array.from(list, (it) => it.name)).toEqual(model);
          expect(list.size).toBe(model.length);
        }
      }),
    );
  });
});

describe("cooldown", () => {
  test("is never longer than its bound, and reasons are kept short", () => {
    const suspended = failure("account_suspended", "x".repeat(9_999));
    let cooldown = nextCooldown(null, suspended, 0);
    for (let i = 0; i < 2_000; i += 1) cooldown = nextCooldown(cooldown, suspended, 0);
    expect(cooldown).toMatchObject({ until: 900_000, failures: 2_001 });
    expect(cooldown.reason.length).toBe(600);
  });

  test.each([
    [7, 7_000],
    [0, 1_000],
    [86_400, 86_400_000],
    [null, 5_000],
  ])("lasts as long as a limited provider states (%s s), up to a maximum", (retryAfter, lasts) => {
    expect(nextCooldown(null, failure("rate_limited", "x", { retryAfter }), 0).until).toBe(lasts);
  });
});
