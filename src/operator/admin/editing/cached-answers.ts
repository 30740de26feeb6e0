import { getOwner, listApiKeys } from "../../../core/config/api-keys.ts";
import { selectStrictestMode } from "../../../core/config/history-mode.ts";
import type { Config } from "../../../core/config/schema.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import { usesResponseCache } from "../../../core/config/schemas/response-cache-schema.ts";
import type { SubjectEntry } from "../../../core/config/schemas/subject-schema.ts";
import { once } from "../../../core/encoding/once.ts";

type Cached = Pick<SubjectEntry, "history" | "cache_epoch">;

/** Whether the history keeps less of the requests of a key or another subject than before. */
const keepsLess = (before: Cached, after: Cached): boolean =>
  selectStrictestMode([before.history]) !== selectStrictestMode([before.history, after.history]);

/** The key with a new epoch of the response cache: no later request gets answers that were cached before. */
export function invalidateCachedAnswers(entry: ApiKey): ApiKey {
  return { ...entry, cache_epoch: (entry.cache_epoch ?? 0) + 1 };
}

/**
 * An entry after an edit, with the epoch of its cached answers. It never decreases, and increases if the history keeps
 * less than before.
 *
 * @param before the same entry before the edit; undefined: the entry is new
 * @param firstEpoch the epoch of a new entry
 */
function withEpoch<Entry extends Cached>(
  before: Cached | undefined,
  after: Entry,
  firstEpoch: number,
): Entry {
  const { cache_epoch = 0 } = before ?? { cache_epoch: firstEpoch };
  const epoch = Math.max(cache_epoch, after.cache_epoch ?? 0);
  const raised = before !== undefined && keepsLess(before, after) ? epoch + 1 : epoch;
  // An entry without invalidations stays without an epoch.
  return raised === 0 ? after : { ...after, cache_epoch: raised };
}

/** Finds the entry before the edit that is the same as one after it. */
type FindBefore<Entry> = (entry: Entry) => Entry | undefined | Promise<Entry | undefined>;

function createEntryFinder(before: readonly SubjectEntry[]): FindBefore<SubjectEntry> {
  const byId = new Map(before.map((entry) => [entry.id, entry]));
  return ({ id }) => byId.get(id);
}

/** Finds a key by its secret, which costs no digest, else by its owner: a rotation changes the secret alone. */
function createKeyFinder(before: readonly ApiKey[]): FindBefore<ApiKey> {
  const getSecret = ({ owner = "", key, digest = "" }: ApiKey) => `${owner} ${key || digest}`;
  const bySecret = new Map(before.map((entry) => [getSecret(entry), entry]));
  const mapByOwner = once(
    async () =>
      new Map(await Promise.all(before.map(async (entry) => [await getOwner(entry), entry] as const))),
  );
  return async (entry) => bySecret.get(getSecret(entry)) ?? (await mapByOwner()).get(await getOwner(entry));
}

/**
 * The configuration after an edit, with the epochs of the cached answers of its keys, teams, users and tags: no request
 * gets an answer that was cached for an entry before its deletion, before an erasure, or before the history was to keep
 * less. Where no answer was ever cached, new entries get no epoch: an import comes back as it was exported.
 *
 * @param now Unix milliseconds
 */
export async function updateCacheEpochs(before: Config, after: Config, now: number): Promise<Config> {
  const mayBeCached = [before, after].some(
    (config) => config.cache.was_on === true || usesResponseCache(config),
  );
  // Higher than the epoch of any deleted entry of the same name.
  const firstEpoch = mayBeCached ? now : 0;
  const withEpochs = <Entry extends Cached>(entries: readonly Entry[], findBefore: FindBefore<Entry>) =>
    Promise.all(entries.map(async (entry) => withEpoch(await findBefore(entry), entry, firstEpoch)));
  const keys = await withEpochs(listApiKeys(after), createKeyFinder(listApiKeys(before)));
  return {
    ...after,
    cache: mayBeCached ? { ...after.cache, was_on: true } : after.cache,
    // The plain list has no place for epochs.
    ...(keys.some(({ cache_epoch }) => cache_epoch !== undefined) && { keys: [], api_keys: keys }),
    teams: await withEpochs(after.teams, createEntryFinder(before.teams)),
    users: await withEpochs(after.users, createEntryFinder(before.users)),
    tags: await withEpochs(after.tags, createEntryFinder(before.tags)),
  };
}
