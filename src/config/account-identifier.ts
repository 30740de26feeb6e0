import { sha256Hex } from "../encoding/hash.ts";
import type { Account } from "./schema.ts";

/** An account's names, as people call it (contract, Authentication rule 3): case makes no difference in any of them. */
export interface AccountNames {
  /** See {@link accountIdentifier}. */
  readonly id: string;
  readonly email: string;
  readonly mobile: string;
}

/** The identifiers of accounts by all their names in lower case. A name that several have stands for the first. */
export function accountsByName(accounts: Iterable<AccountNames>): Map<string, string> {
  const ids = new Map<string, string>();
  const add = (name: string, id: string) => {
    const key = name.toLowerCase();
    if (key !== "" && !ids.has(key)) ids.set(key, id);
  };
  const all = [...accounts];
  // What an account is called by all comes before what else it is called.
  for (const { id } of all) add(id, id);
  for (const { id, email, mobile } of all) {
    add(email, id);
    add(mobile, id);
  }
  return ids;
}

/**
 * What an account is called (contract, Accounts): its e-mail, else its mobile, else `token:` and 16 hexadecimal
 * digits of its token's SHA-256.
 */
export async function accountIdentifier(
  account: Pick<Account, "email" | "mobile" | "token">,
): Promise<string> {
  if (account.email !== "") return account.email;
  if (account.mobile !== "") return account.mobile;
  return `token:${(await sha256Hex(account.token)).slice(0, 16)}`;
}
