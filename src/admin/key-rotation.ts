import { keyDigest, keyIdentifier } from "../config/api-keys.ts";
import type { ApiKey } from "../config/schema.ts";

/** How many of its former selves a key remembers: whoever sends one is told that it has been replaced. */
const MAX_PREVIOUS = 20;

/**
 * A key under a new secret: what it was works until `until` at the longest, and all else about it stays, also what its callers
 * have stored.
 *
 * @param until Unix milliseconds
 */
export async function rotatedKey(entry: ApiKey, key: string, until: number): Promise<ApiKey> {
  const digest = await keyDigest(entry);
  const { digest: _digest, last4: _last4, previous = [], ...kept } = entry;
  const former = previous.map((one) => ({ ...one, until: Math.min(one.until, until) }));
  return {
    ...kept,
    key,
    id: await keyIdentifier(entry),
    owner: entry.owner ?? digest,
    previous: [{ digest, until }, ...former].slice(0, MAX_PREVIOUS),
  };
}

/** Digests of all that a key is and was. */
export async function digestsOf(entry: ApiKey): Promise<string[]> {
  return [await keyDigest(entry), ...(entry.previous ?? []).map(({ digest }) => digest)];
}

/** Which key (by its digest now) a digest belongs to, those of its former secrets included. */
export async function ownersOf(keys: readonly ApiKey[]): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  for (const entry of keys) {
    const now = await keyDigest(entry);
    for (const digest of await digestsOf(entry)) if (!owners.has(digest)) owners.set(digest, now);
  }
  // What a key is comes before what another was.
  for (const now of [...owners.values()]) owners.set(now, now);
  return owners;
}
