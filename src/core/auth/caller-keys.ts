import { getOwner, keyDigest, keyIdentifier, listApiKeys } from "../config/api-keys.ts";
import type { Config } from "../config/schema.ts";
import type { ApiKey } from "../config/schemas/key-schema.ts";
import type { SubjectEntry } from "../config/schemas/subject-schema.ts";
import { oncePer } from "../encoding/once.ts";

/** The configured key of a request. The id may be logged and stored; the key itself may not. */
export interface CallerKey {
  /** Does not change when the key is rotated. */
  readonly id: string;
  readonly name: string;
  readonly entry: ApiKey;
  /** The key's user and team, as far as they are configured: further subjects of its limits and rules. */
  readonly subjects?: readonly KeySubject[];
}

/** The user or the team of a key. */
export interface KeySubject {
  readonly kind: "user" | "team";
  readonly entry: SubjectEntry;
}

/** The key that a digest belongs to. */
export interface KnownKey {
  readonly key: CallerKey;
  /** Owner of the objects stored for the key's callers: a digest. */
  readonly owner: string;
  /** End of a rotated key's grace period, Unix milliseconds; null for the current key. */
  readonly validUntil: number | null;
}

/**
 * The configured keys, rotated ones included, by digest. Looking up digests leaks no key through timing. Of equal keys the
 * first counts; a current key wins over an equal previous one.
 */
export const getKnownKeys = oncePer((config: Config) => indexByDigest(config));

/** Whether the owner is a configured key. */
export async function isManagedOwner(config: Config, owner: string): Promise<boolean> {
  for (const key of (await getKnownKeys(config)).values()) if (key.owner === owner) return true;
  return false;
}

/** Returns a function that finds the configured user and team of a key. */
function createSubjectFinder({ teams, users }: Config): (entry: ApiKey) => KeySubject[] {
  const usersById = new Map(users.map((entry) => [entry.id, { kind: "user" as const, entry }]));
  const teamsById = new Map(teams.map((entry) => [entry.id, { kind: "team" as const, entry }]));
  return ({ user = "", team = "" }) => [usersById.get(user) ?? [], teamsById.get(team) ?? []].flat();
}

async function indexByDigest(config: Config): Promise<ReadonlyMap<string, KnownKey>> {
  const keys = new Map<string, KnownKey>();
  const add = (digest: string, entry: KnownKey) => {
    if (!keys.has(digest)) keys.set(digest, entry);
  };
  const findSubjects = createSubjectFinder(config);
  const current = await Promise.all(
    listApiKeys(config).map(async (entry) => {
      const digest = await keyDigest(entry);
      const subjects = findSubjects(entry);
      const key: CallerKey = {
        id: await keyIdentifier(entry),
        name: entry.name,
        entry,
        ...(subjects.length === 0 ? {} : { subjects }),
      };
      return { digest, known: { key, owner: await getOwner(entry), validUntil: null } };
    }),
  );
  for (const entry of current) add(entry.digest, entry.known);
  for (const { known: rotated } of current) {
    for (const { digest, until } of rotated.key.entry.previous ?? [])
      add(digest, { ...rotated, validUntil: until });
  }
  return keys;
}

/**
 * Why a configured key is not accepted now; null if it is.
 *
 * @param now milliseconds since the epoch
 */
export function getKeyRejection({ key: { entry }, validUntil }: KnownKey, now: number): string | null {
  if (entry.disabled === true) return "this API key is disabled";
  const { expires = 0 } = entry;
  if (expires !== 0 && now >= expires) return `this API key expired at ${new Date(expires).toISOString()}`;
  if (validUntil !== null && now >= validUntil) return "this API key has been replaced by a new one";
  return null;
}
