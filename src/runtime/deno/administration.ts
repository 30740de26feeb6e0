import { LoginGuard } from "../../core/auth/login-guard.ts";
import { RecentMap } from "../../core/encoding/recent-map.ts";
import type {
  AdministrationState,
  ModelSyncResult,
  TestAllProgress,
} from "../../core/ports/administration.ts";
import type { Sql } from "../../core/storage/sql.ts";

const MAX_CLIENTS = 10_000;

/** The tokens that administrators have ended. A restart must not bring them back, so they are in the database. */
function createRevokedTokens(
  sql: Sql,
  now: () => number,
): Pick<AdministrationState, "revokeToken" | "isTokenRevoked"> {
  sql.all("create table if not exists revoked_tokens(id text primary key, until integer not null)");
  return {
    revokeToken: async (id, until) => {
      sql.all("delete from revoked_tokens where until < ?", now());
      sql.all("insert or replace into revoked_tokens values(?, ?)", id, until);
    },
    isTokenRevoked: async (id) => sql.all("select 1 from revoked_tokens where id = ?", id).length > 0,
  };
}

/**
 * {@link AdministrationState} of one process, in its memory and in the database; `now` returns milliseconds since the epoch.
 */
export function createInProcessAdministration(sql: Sql, now: () => number): AdministrationState {
  const guards = new RecentMap<LoginGuard>(MAX_CLIENTS);
  let progress: TestAllProgress | null = null;
  let cancelled = 0;
  let results: Readonly<Record<string, ModelSyncResult>> = {};
  return {
    recordLoginAttempt: async (client, free) => {
      const guard = guards.get(client, now()) ?? new LoginGuard();
      guards.set(client, guard, now());
      return guard.attempt(now(), free);
    },
    recordLoginSuccess: async (client) => {
      const guard = guards.get(client, now());
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
    ...createRevokedTokens(sql, now),
  };
}
