import { sha256Hex } from "../encoding/hash.ts";
import type { Account } from "./schemas/account-schema.ts";

/** The names of an account (docs/contract/keys.md, Authentication, rule 3). All are case-insensitive. */
export interface AccountNames {
  /** See {@link accountIdentifier}. */
  readonly id: string;
  readonly email: string;
  readonly mobile: string;
}

/** Maps all names of the accounts, in lower case, to identifiers. A name of several accounts belongs to the first. */
export function indexAccountsByName(accounts: Iterable<AccountNames>): Map<string, string> {
  const ids = new Map<string, string>();
  const add = (name: string, id: string) => {
    const key = name.toLowerCase();
    if (key !== "" && !ids.has(key)) ids.set(key, id);
  };
  const all = [...accounts];
  // Identifiers take precedence over other names.
  for (const { id } of all) add(id, id);
  for (const { id, email, mobile } of all) {
    add(email, id);
    add(mobile, id);
  }
  return ids;
}

/**
 * An account's identifier (docs/contract/accounts.md): its e-mail, else its mobile number, else `token:` and 16
 * hexadecimal digits of the token's SHA-256.
 */
export async function accountIdentifier(
  account: Pick<Account, "email" | "mobile" | "token">,
): Promise<string> {
  if (account.email !== "") return account.email;
  if (account.mobile !== "") return account.mobile;
  return `token:${(await sha256Hex(account.token)).slice(0, 16)}`;
}
