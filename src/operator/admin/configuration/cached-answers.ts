import { getOwner, listApiKeys } from "../../../core/config/api-keys.ts";
import { selectStrictestMode } from "../../../core/config/history-mode.ts";
import type { ApiKey } from "../../../core/config/key-schema.ts";
import { usesResponseCache } from "../../../core/config/response-cache-schema.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { SubjectEntry } from "../../../core/config/subject-schema.ts";

type Mode = Pick<SubjectEntry, "history">;
type Cached = Pick<SubjectEntry, "history" | "cache_epoch">;

/** Whether the history keeps less of the requests of a key or another subject than before. */
export function keepsLess(before: Mode, after: Mode): boolean {
  return selectStrictestMode([before.history]) !== selectStrictestMode([before.history, after.history]);
}

/** The epoch of an edited entry: it never decreases, and increases if the history keeps less than before. */
function nextEpoch(before: Cached, after: Cached): number {
  const epoch = Math.max(before.cache_epoch ?? 0, after.cache_epoch ?? 0);
  return keepsLess(before, after) ? epoch + 1 : epoch;
}

/** A new entry with the time as its epoch: higher than any that a deleted entry of the same name had. `now`: Unix milliseconds. */
const withFirstEpoch = <Entry extends Cached>(entry: Entry, now: number): Entry => ({
  ...entry,
  cache_epoch: Math.max(now, entry.cache_epoch ?? 0),
});

/** An entry without invalidations stays without an epoch. */
function withEpoch<Entry extends Cached>(entry: Entry, epoch: number): Entry {
  return epoch === 0 ? entry : { ...entry, cache_epoch: epoch };
}

/** The key with a new epoch of the response cache: no later request gets answers that were cached before. */
export function invalidateCachedAnswers(entry: ApiKey): ApiKey {
  return { ...entry, cache_epoch: (entry.cache_epoch ?? 0) + 1 };
}

/** The API keys of a configuration by their owner. */
async function mapKeysByOwner(config: Config): Promise<ReadonlyMap<string, ApiKey>> {
  const entries = listApiKeys(config).map(async (entry) => [await getOwner(entry), entry] as const);
  return new Map(await Promise.all(entries));
}

/**
 * The configuration that replaces the present one. Its keys get no cached answers that were invalidated before, or that their
 * new history setting forbids to keep.
 */
export async function carryOverInvalidation(present: Config, next: Config): Promise<Config> {
  const entries = await mapKeysByOwner(present);
  const changed = listApiKeys(next).map(async (entry) => {
    const before = entries.get(await getOwner(entry));
    if (before === undefined) return entry;
    return withEpoch(entry, nextEpoch(before, entry));
  });
  const keys = await Promise.all(changed);
  // Keys without settings stay in their list.
  return keys.every((entry) => entry.cache_epoch === undefined)
    ? next
    : { ...next, keys: [], api_keys: keys };
}

/**
 * The entries of teams, users or tags after an edit: of one whose history keeps less, and of a new one, no later request gets
 * earlier answers.
 */
function updateEpochs(before: readonly SubjectEntry[], after: SubjectEntry[], now: number): SubjectEntry[] {
  const entries = new Map(before.map((entry) => [entry.id, entry]));
  return after.map((entry) => {
    const known = entries.get(entry.id);
    if (known === entry) return entry;
    if (known === undefined) return withFirstEpoch(entry, now);
    return withEpoch(entry, nextEpoch(known, entry));
  });
}

/**
 * The API keys after an edit: where answers are cached, a new key gets none of an earlier key of the same text. Elsewhere an import
 * comes back as it was exported.
 */
async function updateKeyEpochs(before: Config, after: ApiKey[], now: number): Promise<ApiKey[]> {
  const known = await mapKeysByOwner(before);
  return Promise.all(
    after.map(async (entry) => (known.has(await getOwner(entry)) ? entry : withFirstEpoch(entry, now))),
  );
}

/** The same for all API keys, teams, users and tags of a configuration. `now`: Unix milliseconds. */
export async function updateSubjectEpochs(before: Config, after: Config, now: number): Promise<Config> {
  return {
    ...after,
    ...((usesResponseCache(before) || usesResponseCache(after)) && {
      api_keys: await updateKeyEpochs(before, after.api_keys, now),
    }),
    teams: updateEpochs(before.teams, after.teams, now),
    users: updateEpochs(before.users, after.users, now),
    tags: updateEpochs(before.tags, after.tags, now),
  };
}
