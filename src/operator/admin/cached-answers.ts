import { getOwner, listApiKeys } from "../../core/config/api-keys.ts";
import { selectStrictestMode } from "../../core/config/history-mode.ts";
import type { ApiKey } from "../../core/config/key-schema.ts";
import type { Config } from "../../core/config/schema.ts";
import type { SubjectEntry } from "../../core/config/subject-schema.ts";

type Mode = Pick<SubjectEntry, "history">;

/** Whether the history keeps less of the requests of a key or another subject than before. */
export function keepsLess(before: Mode, after: Mode): boolean {
  return selectStrictestMode([before.history]) !== selectStrictestMode([before.history, after.history]);
}

/** The key with a new epoch of the response cache: no later request gets answers that were cached before. */
export function invalidateCachedAnswers(entry: ApiKey): ApiKey {
  return { ...entry, cache_epoch: (entry.cache_epoch ?? 0) + 1 };
}

/**
 * The configuration that replaces the present one. Its keys get no cached answers that were invalidated before, or that their
 * new history setting forbids to keep.
 */
export async function carryOverInvalidation(present: Config, next: Config): Promise<Config> {
  const presentKeys = listApiKeys(present);
  const entries = new Map(
    await Promise.all(presentKeys.map(async (entry) => [await getOwner(entry), entry] as const)),
  );
  const changed = listApiKeys(next).map(async (entry) => {
    const before = entries.get(await getOwner(entry));
    if (before === undefined) return entry;
    const epoch = Math.max(before.cache_epoch ?? 0, entry.cache_epoch ?? 0);
    const kept = epoch === 0 ? entry : { ...entry, cache_epoch: epoch };
    return keepsLess(before, entry) ? invalidateCachedAnswers(kept) : kept;
  });
  const keys = await Promise.all(changed);
  // Keys without settings stay in their list.
  return keys.every((entry) => entry.cache_epoch === undefined)
    ? next
    : { ...next, keys: [], api_keys: keys };
}

/**
 * The entries of teams, users or tags after an edit: of one whose history keeps less, no later request gets earlier answers. The
 * epoch of a new entry is the time: higher than any that a deleted entry of the same id had.
 */
function invalidateAnswersOfSubjects(
  before: readonly SubjectEntry[],
  after: SubjectEntry[],
  now: number,
): SubjectEntry[] {
  const entries = new Map(before.map((entry) => [entry.id, entry]));
  return after.map((entry) => {
    const known = entries.get(entry.id);
    if (known === entry) return entry;
    if (known === undefined) return { ...entry, cache_epoch: Math.max(now, entry.cache_epoch ?? 0) };
    const epoch =
      Math.max(known.cache_epoch ?? 0, entry.cache_epoch ?? 0) + (keepsLess(known, entry) ? 1 : 0);
    return epoch === 0 ? entry : { ...entry, cache_epoch: epoch };
  });
}

/** The same for all teams, users and tags of a configuration. `now`: Unix milliseconds. */
export function invalidateAnswersOfStricterSubjects(before: Config, after: Config, now: number): Config {
  return {
    ...after,
    teams: invalidateAnswersOfSubjects(before.teams, after.teams, now),
    users: invalidateAnswersOfSubjects(before.users, after.users, now),
    tags: invalidateAnswersOfSubjects(before.tags, after.tags, now),
  };
}
