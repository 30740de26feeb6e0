import { sha256Hex } from "../encoding/hash.ts";
import type { Account } from "./schema.ts";

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
