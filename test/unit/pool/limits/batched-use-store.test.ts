import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BatchedUseStore } from "../../../../src/pool/limits/batched-use-store.ts";
import { noopStore, type StoredUse, type UseStore } from "../../../../src/pool/limits/use-store.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const use = (id: string, tokens = 1): StoredUse => ({
  ...{
    id,
    subject: "k",
    others: [],
    at: 1,
    tokens,
    cost: 0,
    extraTokens: 0,
    extraCost: 0,
    ended: 0,
    settled: false,
  },
});

/** A store that writes down what happens to it; a transaction that fails has not happened. */
function gathered(): { store: BatchedUseStore; log: string[]; failures: Error[] } {
  const log: string[] = [];
  const failures: Error[] = [];
  const inner: UseStore = {
    ...noopStore,
    saveUse: ({ id, tokens }) => log.push(`${id} ${tokens}`),
    removeUse: (id) => log.push(`-${id}`),
    fold: () => log.push("fold"),
  };
  const store = new BatchedUseStore(inner, (work) => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    log.push("begin");
    work();
  });
  return { store, log, failures };
}

/** A store that failed to write the request `a`. */
async function withFailedWrite() {
  const { store, log, failures } = gathered();
  failures.push(new Error("full"));
  store.saveUse(use("a"), true);
  const kept = expect(store.whenStored()).rejects.toThrow("full");
  await vi.runAllTimersAsync();
  await kept;
  return { store, log };
}

test("writes simultaneous changes together, each request in its last state, before it confirms them", async () => {
  const { store, log } = gathered();
  expect(store.whenStored()).toBeNull();
  store.saveUse(use("a"), true);
  store.saveUse(use("b"), true);
  store.saveUse(use("a", 2), false);
  store.removeUse("c");
  const first = store.whenStored();
  const told = vi.fn();
  void first?.then(told);
  await Promise.resolve();
  expect([log, told.mock.calls]).toEqual([[], []]);
  await vi.runAllTimersAsync();
  expect(log).toEqual(["begin", "a 2", "b 1", "-c"]);
  expect(told).toHaveBeenCalledOnce();
  expect(store.whenStored()).toBeNull();
});

test("adds up only written requests, and writes none twice", async () => {
  const { store, log } = gathered();
  store.saveUse(use("a"), true);
  store.fold(1, []);
  await vi.runAllTimersAsync();
  expect(log).toEqual(["begin", "a 1", "fold"]);
});

test("reports a failed write to its waiters, and repeats it with the next one", async () => {
  const { store, log } = await withFailedWrite();
  store.saveUse(use("b"), true);
  await vi.runAllTimersAsync();
  expect(log).toEqual(["begin", "a 1", "b 1"]);
});

test("has nothing to write for a request that ends while the store fails", async () => {
  const { store, log } = await withFailedWrite();
  store.removeUse("a");
  store.saveUse(use("b"), true);
  await vi.runAllTimersAsync();
  store.removeUse("b");
  await vi.runAllTimersAsync();
  expect(log).toEqual(["begin", "b 1", "begin", "-b"]);
});
