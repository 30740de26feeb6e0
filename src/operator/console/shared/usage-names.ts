import { readAccountNames } from "../api/accounts.ts";
import { listKeys } from "../api/keys.ts";
import { listProviders } from "../api/providers.ts";
import { listSubjects } from "../api/subjects.ts";
import type { Dimension } from "../api/usage.ts";
import { formatApiStyle, formatOperation } from "../ui/api-styles.ts";
import { useLoaded } from "../ui/loading/use-loaded.ts";
import { texts } from "./texts.ts";

/** Names of the ids of dimensions. */
export type UsageNames = Readonly<Partial<Record<Dimension, ReadonlyMap<string, string>>>>;

/** Returns the label of a dimension's value. */
export function displayName(dimension: Dimension, value: string, names: UsageNames): string {
  if (value === "") return dimension === "key" ? texts.noKey : texts.none;
  if (dimension === "dialect") return formatApiStyle(value);
  if (dimension === "operation") return formatOperation(value) ?? value;
  if (dimension === "outcome") return new Map(Object.entries(texts.outcomes)).get(value) ?? value;
  return names[dimension]?.get(value) || value;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Returns the names of entries by their ids. */
export const toNames = (entries: readonly Named[]) => new Map(entries.map(({ id, name }) => [id, name]));

/** Reads the names of keys, teams, users, providers and accounts. */
async function readNames(signal: AbortSignal): Promise<UsageNames> {
  const [keys, teams, users, providers, account] = await Promise.all([
    listKeys(signal),
    listSubjects("teams", signal),
    listSubjects("users", signal),
    listProviders(signal),
    readAccountNames(signal),
  ]);
  return {
    key: toNames(keys.items),
    team: toNames(teams.items),
    user: toNames(users.items),
    provider: toNames(providers),
    account,
  };
}

/** All names in one map: ids of keys, teams, users, providers and accounts differ. */
export const mergeNames = (names: UsageNames): ReadonlyMap<string, string> =>
  new Map(Object.values(names).flatMap((map) => [...map]));

/** The names that keys, teams, users, providers and accounts have now. Until they are loaded, there are none. */
export function useNames(): UsageNames {
  return useLoaded(readNames).data ?? {};
}
