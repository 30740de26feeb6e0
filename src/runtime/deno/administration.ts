import { LoginGuard } from "../../core/auth/login-guard.ts";
import type {
  AdministrationState,
  ModelSyncResult,
  TestAllProgress,
} from "../../core/ports/administration.ts";

const MAX_CLIENTS = 10_000;

/** {@link AdministrationState} in the memory of one process; `now` returns milliseconds since the epoch. */
export function createInProcessAdministration(now: () => number): AdministrationState {
  const guards = new Map<string, LoginGuard>();
  let progress: TestAllProgress | null = null;
  let cancelled = 0;
  let results: Readonly<Record<string, ModelSyncResult>> = {};
  return {
    recordLoginAttempt: async (client, free) => {
      const guard = guards.get(client) ?? new LoginGuard();
      // Re-inserting keeps the map in LRU order, so that the eviction removes the least recently seen address.
      guards.delete(client);
      guards.set(client, guard);
      for (const oldest of guards.keys()) {
        if (guards.size <= MAX_CLIENTS) break;
        guards.delete(oldest);
      }
      return guard.attempt(now(), free);
    },
    recordLoginSuccess: async (client) => {
      const guard = guards.get(client);
      guard?.succeeded();
      if (guard?.failures === null) guards.delete(client);
    },
    getTestProgress: async () => progress,
    setTestProgress: async (next) => {
      progress = next;
      return next.started_at === cancelled;
    },
    cancelTest: async () => {
      cancelled = progress?.started_at ?? 0;
    },
    getModelSyncResults: async () => results,
    setModelSyncResults: async (next) => {
      results = next;
    },
  };
}
