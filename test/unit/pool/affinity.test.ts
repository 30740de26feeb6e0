import { describe, expect, test } from "vitest";
import type { AccountSelection } from "../../../src/core/ports/accounts.ts";
import { failure } from "../../support/failures.ts";
import {
  account,
  configuration,
  LIMITS,
  leaseOf,
  request,
  result,
} from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const IDS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const WAIT_MS = 500;

/** The first turn of a conversation. */
function firstTurn(conversation: string): { selection: AccountSelection } {
  return { selection: { strategy: "affinity", conversation } };
}

/** A later turn, which waits for the conversation's account. */
function nextTurn(conversation: string, lastAccount?: string): { selection: AccountSelection } {
  const known = lastAccount === undefined ? {} : { lastAccount };
  return { selection: { strategy: "affinity", conversation, waitMs: WAIT_MS, ...known } };
}

function rigOf(perAccount: number, ids: readonly string[] = IDS): PoolSimulator {
  const simulator = new PoolSimulator();
  simulator.pool.configure(configuration(ids, { perAccount, queue: 1_000 }));
  simulator.answerOnce(ids);
  return simulator;
}

/** The account of a conversation's first turn. */
function startConversation(simulator: PoolSimulator, conversation: string): string {
  const { account: granted, lease } = simulator.grant(firstTurn(conversation));
  simulator.pool.release(lease);
  return granted.id;
}

/** Runs conversations of eight turns, eight at a time, with turns of 1 to 8 seconds. Returns the accounts of each. */
function runConversations(simulator: PoolSimulator, count: number, limited: string | null): string[][] {
  const accounts = Array.from({ length: count }, (): string[] => []);
  let started = 0;
  const runTurn = (index: number, turn: number, exclude: readonly string[]) => {
    const conversation = `conversation ${index}`;
    const selection = turn === 0 ? firstTurn(conversation) : nextTurn(conversation);
    const outcome = simulator.pool.acquire(request({ ...selection, requestId: `${index}.${turn}`, exclude }));
    const onSettled = (id: string, lease: string) => {
      if (id === limited) {
        simulator.pool.failed(lease, { ...failure("rate_limited"), retryAfter: 3_600 });
        simulator.pool.release(lease);
        runTurn(index, turn, [...exclude, id]);
        return;
      }
      accounts[index]?.push(id);
      simulator.clock.setTimer(1_000 + ((index * 7 + turn * 3) % 8) * 1_000, () => {
        simulator.pool.release(lease);
        if (turn < 7) runTurn(index, turn + 1, []);
        else if (started < count) runTurn(started++, 0, []);
      });
    };
    if ("granted" in outcome) onSettled(outcome.granted.account.id, outcome.granted.lease);
    else if ("settled" in outcome)
      simulator.whenSettled(outcome, () => onSettled(result(outcome) ?? "", leaseOf(outcome)));
    else throw new Error(outcome.refused);
  };
  while (started < 8) runTurn(started++, 0, []);
  simulator.advance(3_600_000);
  return accounts;
}

function countMoves(turns: readonly string[]): number {
  return turns.filter((id, turn) => turn > 0 && id !== turns[turn - 1]).length;
}

describe("conversations stay with their accounts", () => {
  test.each([
    ["all accounts healthy", null],
    ["one account limited", "c"],
  ])("in 95 of 100 turns: %s", (_, limited) => {
    const simulator = rigOf(2);
    const conversations = runConversations(simulator, 40, limited);
    expect(conversations.map(({ length }) => length)).toEqual(Array(40).fill(8));
    const moves = conversations.map(countMoves);
    expect(moves.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(0.05 * 40 * 7);
    expect(Math.max(...moves)).toBeLessThanOrEqual(1);
    expect(conversations.flat()).not.toContain(limited);
  });

  test("while new ones are spread over all accounts, by weight", () => {
    const simulator = new PoolSimulator();
    const accounts = IDS.map((id, index) => account(id, { weight: index === 0 ? 3 : 1 }));
    simulator.pool.configure({ accounts, limits: { ...LIMITS, perAccount: 2 } });
    const counts = new Map<string, number>();
    for (let index = 0; index < 4_000; index += 1) {
      const id = startConversation(simulator, `conversation ${index}`);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const id of IDS) {
      const share = (id === "a" ? 3 : 1) * (4_000 / 10);
      expect(counts.get(id), id).toBeGreaterThan(0.8 * share);
      expect(counts.get(id), id).toBeLessThan(1.2 * share);
    }
  });

  test("two pools with the same accounts select the same one", () => {
    const first = rigOf(1);
    const second = rigOf(1, IDS.toReversed());
    for (let index = 0; index < 50; index += 1)
      expect(startConversation(first, `${index}`)).toBe(startConversation(second, `${index}`));
  });
});

describe("a continued conversation", () => {
  test("waits for its busy account, although others are free", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const other = simulator.grant({ target: home });
    const waiter = simulator.queue(nextTurn("talk"));
    simulator.advance(WAIT_MS - 1);
    expect(result(waiter)).toBeNull();
    simulator.pool.release(other.lease);
    expect(result(waiter)).toBe(home);
  });

  test("moves if its account stays busy, and stays with the new one", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const other = simulator.grant({ target: home });
    const waiter = simulator.queue(nextTurn("talk"));
    simulator.advance(WAIT_MS);
    const moved = result(waiter);
    expect(moved).not.toBe(home);
    simulator.pool.release(leaseOf(waiter));
    simulator.pool.release(other.lease);
    expect(simulator.grant(nextTurn("talk")).account.id).toBe(moved);
  });

  test("returns to its first account after an hour of silence", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const other = simulator.grant({ target: home });
    const waiter = simulator.queue(nextTurn("talk"));
    simulator.advance(WAIT_MS);
    simulator.pool.release(leaseOf(waiter));
    simulator.pool.release(other.lease);
    simulator.advance(3_600_000);
    expect(simulator.grant(nextTurn("talk")).account.id).toBe(home);
  });

  test("does not wait for an account that cools down, and does not return when it recovers", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const { lease } = simulator.grant(nextTurn("talk"));
    simulator.pool.failed(lease, failure("rate_limited"));
    simulator.pool.release(lease);
    const moved = simulator.grant({ ...nextTurn("talk"), exclude: [home] });
    simulator.pool.release(moved.lease);
    simulator.advance(600_000);
    const back = simulator.grant({ target: home });
    simulator.pool.succeeded(back.lease);
    simulator.pool.release(back.lease);
    expect(simulator.grant(nextTurn("talk")).account.id).toBe(moved.account.id);
  });

  test("stops waiting at once when its account fails", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const { lease } = simulator.grant({ target: home });
    const waiter = simulator.queue(nextTurn("talk"));
    simulator.pool.failed(lease, failure("rate_limited"));
    expect(result(waiter)).not.toBeNull();
    expect(result(waiter)).not.toBe(home);
  });

  test("stops waiting at once when its account is removed or switched off", () => {
    for (const gone of ["removed", "disabled"]) {
      const simulator = rigOf(1);
      const home = startConversation(simulator, "talk");
      simulator.grant({ target: home });
      const waiter = simulator.queue(nextTurn("talk"));
      const accounts = IDS.flatMap((id) => {
        if (id !== home) return [account(id)];
        return gone === "removed" ? [] : [account(id, { disabled: true })];
      });
      simulator.pool.configure({ accounts, limits: { ...LIMITS, queue: 10 } });
      expect([null, home, "target_not_found"], gone).not.toContain(result(waiter));
    }
  });

  test("keeps its place in the queue after its wait for one account", () => {
    const simulator = rigOf(1, ["a", "b"]);
    const home = startConversation(simulator, "talk");
    const other = home === "a" ? "b" : "a";
    simulator.grant({ target: home });
    const { lease } = simulator.grant({ target: other });
    const continued = simulator.queue(nextTurn("talk"));
    const later = simulator.queue(firstTurn("new"));
    simulator.advance(WAIT_MS);
    simulator.pool.release(lease);
    expect([result(continued), result(later)]).toEqual([other, null]);
  });

  test("gets another account at once if the queue is full", () => {
    const simulator = new PoolSimulator();
    simulator.pool.configure(configuration(["a", "b"], { queue: 1 }));
    const home = startConversation(simulator, "talk");
    simulator.grant({ target: home });
    simulator.queue({ target: home });
    expect(simulator.grant(nextTurn("talk")).account.id).not.toBe(home);
  });

  test("is known to a restarted pool through the isolate", () => {
    const simulator = rigOf(1);
    const home = startConversation(simulator, "talk");
    const moved = IDS.find((id) => id !== home) ?? "";
    simulator.restart();
    simulator.pool.configure(configuration(IDS));
    simulator.advance(10_000);
    expect(simulator.grant(nextTurn("talk", moved)).account.id).toBe(moved);
  });
});

describe("simultaneous requests of one conversation", () => {
  test("do not wait, and do not move the conversation", () => {
    const simulator = rigOf(1);
    const main = simulator.grant(firstTurn("talk"));
    const branch = simulator.grant(nextTurn("talk"));
    expect(branch.account.id).not.toBe(main.account.id);
    expect([main.isBranch, branch.isBranch]).toEqual([undefined, true]);
    simulator.pool.release(branch.lease);
    simulator.pool.release(main.lease);
    expect(simulator.grant(nextTurn("talk")).account.id).toBe(main.account.id);
  });
});

describe("the other strategies", () => {
  test("least_busy selects the account with the fewest requests for its weight", () => {
    const simulator = new PoolSimulator();
    const accounts = [account("a"), account("b", { weight: 2 })];
    simulator.pool.configure({ accounts, limits: { ...LIMITS, perAccount: 8 } });
    const selection: AccountSelection = { strategy: "least_busy" };
    for (const target of ["a", "a"]) simulator.pool.succeeded(simulator.grant({ target }).lease);
    simulator.pool.succeeded(simulator.grant({ target: "b" }).lease);
    const ids = [1, 2, 3].map(() => simulator.grant({ selection }).account.id);
    expect(ids).toEqual(["b", "b", "b"]);
  });

  test("fill_first selects the first account until it is full", () => {
    const simulator = new PoolSimulator();
    simulator.pool.configure(configuration(["z", "a"], { perAccount: 2 }));
    const selection: AccountSelection = { strategy: "fill_first" };
    const granted = [1, 2, 3].map(() => simulator.grant({ selection }));
    expect(granted.map((grant) => grant.account.id)).toEqual(["z", "z", "a"]);
    simulator.pool.release(granted[0]?.lease ?? "");
    expect(simulator.grant({ selection }).account.id).toBe("z");
  });

  test("without a conversation, accounts take turns", () => {
    const simulator = rigOf(1, ["a", "b", "c"]);
    const selection: AccountSelection = { strategy: "affinity" };
    const turns = [1, 2, 3, 4].map(() => {
      const { account: granted, lease } = simulator.grant({ selection });
      simulator.pool.release(lease);
      return granted.id;
    });
    expect(new Set(turns.slice(0, 3)).size).toBe(3);
    expect(turns[3]).toBe(turns[0]);
  });
});
