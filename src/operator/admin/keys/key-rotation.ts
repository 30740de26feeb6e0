import { getOwner, keyDigest, keyIdentifier } from "../../../core/config/api-keys.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";

/** Maximum number of former secrets per key. A request with a former secret gets the error that the key was replaced. */
const MAX_PREVIOUS = 20;

/**
 * Returns the key with a new secret. The old secret works until `until` at the latest. Everything else stays, also the
 * owner of stored responses and files.
 *
 * @param until Unix milliseconds
 */
export async function rotateKey(entry: ApiKey, key: string, until: number): Promise<ApiKey> {
  const digest = await keyDigest(entry);
  const { digest: _digest, last4: _last4, previous = [], ...rest } = entry;
  const former = previous.map((secret) => ({ ...secret, until: Math.min(secret.until, until) }));
  return {
    ...rest,
    key,
    id: await keyIdentifier(entry),
    owner: await getOwner(entry),
    previous: [{ digest, until }, ...former].slice(0, MAX_PREVIOUS),
  };
}

/** Digests of the present and the former secrets of a key. */
export async function getKeyDigests(entry: ApiKey): Promise<string[]> {
  return [await keyDigest(entry), ...(entry.previous ?? []).map(({ digest }) => digest)];
}

/** Maps the digest of each present and former secret to the present digest of its key. */
export async function mapToPresentDigests(keys: readonly ApiKey[]): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const entry of keys) {
    const present = await keyDigest(entry);
    for (const digest of await getKeyDigests(entry)) if (!digests.has(digest)) digests.set(digest, present);
  }
  // A present secret of one key wins over an equal former secret of another.
  for (const present of [...digests.values()]) digests.set(present, present);
  return digests;
}
