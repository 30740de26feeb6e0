import { keyDigest, listApiKeys } from "../../core/config/api-keys.ts";
import { selectStrictestMode } from "../../core/config/history-mode.ts";
import type { ApiKey, Config } from "../../core/config/schema.ts";

/** The digest that owns what is stored for a key. */
export async function getOwner(entry: ApiKey): Promise<string> {
  return entry.owner ?? (await keyDigest(entry));
}

/** Whether the history keeps less of a key's requests than before. */
export function keepsLess(before: ApiKey, after: ApiKey): boolean {
  return selectStrictestMode([before.history]) !== selectStrictestMode([before.history, after.history]);
}

/** The key without the answers that the response cache has for it: no later request gets them. */
export function leaveCachedAnswers(entry: ApiKey): ApiKey {
  return { ...entry, cache_epoch: (entry.cache_epoch ?? 0) + 1 };
}

/** The configuration that replaces the present one: cached answers that were left, or that must not be kept, do not come back. */
export async function keepCachedAnswersLeft(present: Config, next: Config): Promise<Config> {
  const presentKeys = listApiKeys(present);
  const entries = new Map(
    await Promise.all(presentKeys.map(async (entry) => [await getOwner(entry), entry] as const)),
  );
  const changed = listApiKeys(next).map(async (entry) => {
    const before = entries.get(await getOwner(entry));
    if (before === undefined) return entry;
    const epoch = Math.max(before.cache_epoch ?? 0, entry.cache_epoch ?? 0);
    const kept = epoch === 0 ? entry : { ...entry, cache_epoch: epoch };
    return keepsLess(before, entry) ? leaveCachedAnswers(kept) : kept;
  });
  const keys = await Promise.all(changed);
  // Keys without settings stay in their list.
  return keys.every((entry) => entry.cache_epoch === undefined)
    ? next
    : { ...next, keys: [], api_keys: keys };
}
