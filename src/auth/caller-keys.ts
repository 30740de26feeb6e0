import { allKeys, keyDigest, keyIdentifier } from "../config/api-keys.ts";
import type { ApiKey, Config } from "../config/schema.ts";

/** The configured key behind a request. The id may be told and kept, the key itself may not. */
export interface CallerKey {
  /** Stays the same when the key is rotated. */
  readonly id: string;
  readonly name: string;
  readonly entry: ApiKey;
}

/** What a digest stands for. */
export interface KnownKey {
  readonly key: CallerKey;
  /** The name under which the objects of the key's callers are kept: a digest. */
  readonly owner: string;
  /** Until when a rotated key still works, Unix milliseconds; null: it is the current one. */
  readonly until: number | null;
}

const known = new WeakMap<Config, Promise<ReadonlyMap<string, KnownKey>>>();

/**
 * The configured keys by their digests, rotated ones too. Comparing digests makes the comparison's timing say nothing about a
 * key. Of equal keys the first counts, and a current one before what another was before.
 */
export function knownKeys(config: Config): Promise<ReadonlyMap<string, KnownKey>> {
  let made = known.get(config);
  if (made === undefined) {
    made = byDigest(config);
    known.set(config, made);
  }
  return made;
}

/** Whether the callers of a configured key have this owner. */
export async function isManagedOwner(config: Config, owner: string): Promise<boolean> {
  for (const key of (await knownKeys(config)).values()) if (key.owner === owner) return true;
  return false;
}

async function byDigest(config: Config): Promise<ReadonlyMap<string, KnownKey>> {
  const found = new Map<string, KnownKey>();
  const add = (digest: string, entry: KnownKey) => {
    if (!found.has(digest)) found.set(digest, entry);
  };
  const current = await Promise.all(
    allKeys(config).map(async (entry) => {
      const digest = await keyDigest(entry);
      const key: CallerKey = { id: await keyIdentifier(entry), name: entry.name, entry };
      return { digest, known: { key, owner: entry.owner ?? digest, until: null } };
    }),
  );
  for (const one of current) add(one.digest, one.known);
  for (const { known: one } of current) {
    for (const { digest, until } of one.key.entry.previous ?? []) add(digest, { ...one, until });
  }
  return found;
}

/**
 * Why a configured key lets nobody in now; null: it does.
 *
 * @param now milliseconds since the epoch
 */
export function keyFault({ key: { entry }, until }: KnownKey, now: number): string | null {
  if (entry.disabled === true) return "this API key is disabled";
  const { expires = 0 } = entry;
  if (expires !== 0 && now >= expires) return `this API key expired at ${new Date(expires).toISOString()}`;
  if (until !== null && now >= until) return "this API key has been replaced by a new one";
  return null;
}
