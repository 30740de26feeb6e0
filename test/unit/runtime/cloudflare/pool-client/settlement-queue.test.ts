import { expect, test } from "vitest";
import {
  type SettledUses,
  SettlementQueue,
} from "../../../../../src/runtime/cloudflare/pool-client/settlement-queue.ts";

const spent = (tokens: number) => ({ tokens, cost: 0 });

/** A settlement queue. `goOn(ms)` ends its timers of at most `ms` milliseconds. */
function settlements() {
  const sent: SettledUses[] = [];
  const failures: Error[] = [];
  const pool = { isSilent: false };
  const timers = new Set<{ readonly ms: number; readonly run: () => void }>();
  const it = new SettlementQueue(
    async (settled) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      sent.push(settled);
      if (pool.isSilent) await new Promise(() => undefined);
    },
    {
      now: () => 1_000,
      setTimer: (ms, run) => {
        const timer = { ms, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  );
  const goOn = async (ms = 10) => {
    for (const timer of [...timers]) if (timer.ms <= ms && timers.delete(timer)) timer.run();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { it, sent, goOn, failures, pool };
}

/** The settlements that a call sends, if the pool acknowledges them. */
const taken = (it: SettlementQueue) => it.sendWith(async (settled) => settled);

test("does not send settlements again that another request carried", async () => {
  const { it, sent, goOn } = settlements();
  const settled = it.add("a", spent(1), false);
  expect(await taken(it)).toEqual([["a", spent(1)]]);
  await goOn(5_000);
  await settled;
  expect([sent, await taken(it)]).toEqual([[], []]);
});

test("sends settlements again if the request that carried them is not answered or fails", async () => {
  const { it, sent, goOn } = settlements();
  const settled = it.add("a", spent(1), false);
  void it.sendWith(() => new Promise(() => undefined));
  await goOn();
  await settled;
  expect(sent).toEqual([]);
  await goOn(5_000);
  const failing = it.sendWith(async () => Promise.reject(new Error("gone")));
  await expect(failing).rejects.toThrow("gone");
  await it.add("b", spent(2), true);
  expect(sent.map((settled) => settled.map(([use]) => use))).toEqual([["a", "b"]]);
});

test("sends all waiting settlements after a moment if no request carries them", async () => {
  const { it, sent, goOn } = settlements();
  const all = Promise.all(["a", "b", "c", "d", "e"].map((use, index) => it.add(use, spent(index), false)));
  await goOn();
  await all;
  expect(sent).toEqual([["a", "b", "c", "d", "e"].map((use, index) => [use, spent(index)])]);
});

test("sends a settlement at once that other requests may wait for, with all waiting ones", async () => {
  const { it, sent, goOn } = settlements();
  const first = it.add("a", spent(1), false);
  await it.add("b", spent(2), true);
  expect(sent).toEqual([
    [
      ["a", spent(1)],
      ["b", spent(2)],
    ],
  ]);
  await goOn();
  await first;
  expect(sent).toHaveLength(1);
});

test("repeats a failed settlement with the next one", async () => {
  const { it, sent, failures } = settlements();
  failures.push(new Error("gone"));
  await expect(it.add("a", spent(1), true)).rejects.toThrow("gone");
  await it.add("b", spent(2), true);
  expect(sent.flat().map(([use]) => use)).toEqual(["a", "b"]);
});

test("repeats an unacknowledged settlement with the next one, and answers 503 within 5 s", async () => {
  const { it, sent, goOn, pool } = settlements();
  pool.isSilent = true;
  const settled = expect(it.add("a", spent(1), true)).rejects.toMatchObject({ status: 503 });
  await goOn(5_000);
  await settled;
  pool.isSilent = false;
  await it.add("b", spent(2), true);
  expect(sent.map((settled) => settled.map(([use]) => use))).toEqual([["a"], ["a", "b"]]);
  expect(await taken(it)).toEqual([]);
});
