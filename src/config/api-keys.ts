import { sha256Hex } from "../encoding/hash.ts";
import type { ApiKey, Config } from "./schema.ts";

const digests = new WeakMap<ApiKey, Promise<string>>();

/** SHA-256 of an API key in hexadecimal, whether the key itself is kept or not. */
export function keyDigest(entry: ApiKey): Promise<string> {
  let made = digests.get(entry);
  if (made === undefined) {
    made = entry.key === "" ? Promise.resolve(entry.digest ?? "") : sha256Hex(entry.key);
    digests.set(entry, made);
  }
  return made;
}

/** What an API key is called where it must not be shown: its `id`, else `key_` and 16 digits of its SHA-256. */
export async function keyIdentifier(entry: ApiKey): Promise<string> {
  return entry.id ?? `key_${(await keyDigest(entry)).slice(0, 16)}`;
}

/** All API keys in the structured form: those of the legacy list `keys` have no name. Without repetitions. */
export function allKeys({ keys, api_keys }: Pick<Config, "keys" | "api_keys">): ApiKey[] {
  const found = new Map<string, ApiKey>();
  for (const apiKey of api_keys) {
    const name = apiKey.key || (apiKey.digest ?? "");
    if (!found.has(name)) found.set(name, apiKey);
  }
  for (const key of keys.map((entry) => entry.trim())) {
    if (key !== "" && !found.has(key)) found.set(key, { key, name: "", remark: "" });
  }
  return [...found.values()];
}

/** The same keys without those that an earlier one stands for, be it by its digest alone. */
export async function distinctKeys(entries: readonly ApiKey[]): Promise<ApiKey[]> {
  const found = new Map<string, ApiKey>();
  for (const entry of entries) {
    const digest = await keyDigest(entry);
    if (!found.has(digest)) found.set(digest, entry);
  }
  return [...found.values()];
}

/** The last characters of a key, by which its owner knows it; none of a short one, of which they would be too much. */
const lastOf = (key: string): string => (key.length < 16 ? "" : key.slice(-4));

/** The same configuration with the digests of its keys in their places. */
export async function withHashedKeys(config: Config): Promise<Config> {
  const entries = await distinctKeys(allKeys(config));
  const api_keys = entries.map(async (entry) =>
    entry.key === ""
      ? entry
      : { ...entry, key: "", digest: await keyDigest(entry), last4: lastOf(entry.key) },
  );
  return { ...config, keys: [], api_keys: await Promise.all(api_keys) };
}
