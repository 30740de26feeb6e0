import { sha256Hex } from "../encoding/hash.ts";
import { oncePer } from "../encoding/once.ts";
import type { Config } from "./schema.ts";
import type { ApiKey } from "./schemas/key-schema.ts";

/** SHA-256 of an API key in hexadecimal, whether the key itself or only the digest is stored. */
export const keyDigest = oncePer(
  ({ key, digest }: ApiKey): Promise<string> => (key === "" ? Promise.resolve(digest ?? "") : sha256Hex(key)),
);

/** The digest that owns what is stored for a key: that of its first secret, also after rotations. */
export async function getOwner(entry: ApiKey): Promise<string> {
  return entry.owner ?? (await keyDigest(entry));
}

/** A key's public name: its `id`, else `key_` and 16 digits of its SHA-256. */
export async function keyIdentifier(entry: ApiKey): Promise<string> {
  return entry.id ?? `key_${(await keyDigest(entry)).slice(0, 16)}`;
}

/** All API keys in the structured form, without duplicates. Keys of the legacy list `keys` have no name. */
export function listApiKeys({ keys, api_keys }: Pick<Config, "keys" | "api_keys">): ApiKey[] {
  const keysByName = new Map<string, ApiKey>();
  for (const apiKey of api_keys) {
    const name = apiKey.key || (apiKey.digest ?? "");
    if (!keysByName.has(name)) keysByName.set(name, apiKey);
  }
  for (const key of keys.map((entry) => entry.trim())) {
    if (key !== "" && !keysByName.has(key)) keysByName.set(key, { key, name: "", remark: "" });
  }
  return [...keysByName.values()];
}

/** Removes keys with the digest of an earlier entry, even one that stores only its digest. */
export async function removeDuplicateKeys(entries: readonly ApiKey[]): Promise<ApiKey[]> {
  const keysByDigest = new Map<string, ApiKey>();
  for (const entry of entries) {
    const digest = await keyDigest(entry);
    if (!keysByDigest.has(digest)) keysByDigest.set(digest, entry);
  }
  return [...keysByDigest.values()];
}

/**
 * The last four characters, by which the owner recognises a key; none of a short key, because they would reveal too much of
 * it.
 */
const lastCharacters = (key: string): string => (key.length < 16 ? "" : key.slice(-4));

/** Replaces the configuration's keys by their digests. */
export async function hashKeys(config: Config): Promise<Config> {
  const entries = await removeDuplicateKeys(listApiKeys(config));
  const api_keys = entries.map(async (entry) =>
    entry.key === ""
      ? entry
      : { ...entry, key: "", digest: await keyDigest(entry), last4: lastCharacters(entry.key) },
  );
  return { ...config, keys: [], api_keys: await Promise.all(api_keys) };
}
