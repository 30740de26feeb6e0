import { readAccountNames } from "../api/accounts.ts";
import { useLoaded } from "../ui/loading/use-loaded.ts";

/** Names of accounts by identifier. Accounts without a name are missing. */
export type AccountNames = ReadonlyMap<string, string>;

const NO_NAMES: AccountNames = new Map();

/** The label of an account, as the page of the accounts shows it: its name, else its identifier. */
export const labelAccount = (identifier: string, names: AccountNames): string =>
  names.get(identifier) || identifier;

/** The names that accounts have now. Until they are loaded, there are none. */
export function useAccountNames(): AccountNames {
  return useLoaded(readAccountNames).data ?? NO_NAMES;
}
