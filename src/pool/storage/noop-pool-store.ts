import type { PoolStore } from "./pool-store.ts";

/** A store that stores nothing: for a pool whose state may be lost at any time. */
export const noopPoolStore: PoolStore = {
  loadHighWaterMarks: () => [],
  setHighWaterMark: () => undefined,
  clearHighWaterMarks: () => undefined,
  flush: () => undefined,
  loadStarts: () => ({ last: 0, oldestLive: 0 }),
  saveStarts: () => undefined,
  loadTerms: () => null,
  saveTerms: () => undefined,
  loadIsolates: () => [],
  addIsolate: () => undefined,
  removeIsolate: () => undefined,
  loadReclaimed: () => [],
  addReclaimed: () => undefined,
  dropReclaimed: () => undefined,
  loadAccounts: () => [],
  saveAccount: () => undefined,
  removeAccount: () => undefined,
  loadHealth: () => [],
  saveHealth: () => undefined,
  removeHealth: () => undefined,
};
