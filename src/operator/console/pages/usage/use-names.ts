import { listKeys } from "../../api/config.ts";
import { DEFAULT_PROVIDER, listProviders } from "../../api/providers.ts";
import { listSubjects } from "../../api/subjects.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import type { UsageNames } from "./usage-view.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

const toNames = (entries: readonly Named[]) => new Map(entries.map(({ id, name }) => [id, name]));

/** Reads the names of keys, teams, users and providers. Usage names the default provider by its driver. */
async function readNames(signal: AbortSignal): Promise<UsageNames> {
  const [keys, teams, users, providers] = await Promise.all([
    listKeys(signal),
    listSubjects("teams", signal),
    listSubjects("users", signal),
    listProviders(signal),
  ]);
  const inUsage = providers.map(({ id, name, driver }) => ({
    id: id === DEFAULT_PROVIDER ? driver : id,
    name: name || id,
  }));
  return {
    key: toNames(keys.items),
    team: toNames(teams.items),
    user: toNames(users.items),
    provider: toNames(inUsage),
  };
}

/** The names that keys, teams, users and providers have now. Until they are loaded, there are none. */
export function useNames(): UsageNames {
  return useLoaded(readNames).data ?? {};
}
