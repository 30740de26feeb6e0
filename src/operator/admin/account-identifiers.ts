import { accountIdentifier } from "../../core/config/account-identifier.ts";
import type { Config } from "../../core/config/schema.ts";
import type { Account } from "../../core/config/schemas/account-schema.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { notFoundError, requireFound } from "./resource-errors.ts";

/** Whether the account has an e-mail, a mobile number or a token. */
export function hasIdentity({ email, mobile, token }: Pick<Account, "email" | "mobile" | "token">): boolean {
  return email !== "" || mobile !== "" || token !== "";
}

/** Cached, because token hashes are expensive. */
const identifyAccounts = oncePer(
  (accounts: readonly Account[]): Promise<readonly string[]> => Promise.all(accounts.map(accountIdentifier)),
);

/** Returns the identifiers of a configuration's accounts, in order. */
export function accountIdentifiers({ accounts }: Pick<Config, "accounts">): Promise<readonly string[]> {
  return identifyAccounts(accounts);
}

/** Returns the names of the accounts that have one, by identifier. */
export async function listAccountNames(config: Pick<Config, "accounts">): Promise<Map<string, string>> {
  const ids = await accountIdentifiers(config);
  const named = config.accounts.map(({ name }, index) => [ids[index] ?? "", name] as const);
  return new Map(named.filter(([, name]) => name !== ""));
}

/** Returns a stored account. Throws 404 if no account matches; see {@link findAccountIndex}. */
export async function findAccount(config: Pick<Config, "accounts">, identifier: string): Promise<Account> {
  const account = config.accounts[await findAccountIndex(config, identifier)];
  return requireFound(account, "the account", identifier);
}

/**
 * Returns the index of an account. Matches its identifier; an account with an e-mail address also matches by its mobile
 * number.
 *
 * @throws GatewayError 404 if no account matches.
 */
export async function findAccountIndex(
  config: Pick<Config, "accounts">,
  identifier: string,
): Promise<number> {
  const exactIndex = (await accountIdentifiers(config)).indexOf(identifier);
  if (exactIndex !== -1) return exactIndex;
  const lowerCase = identifier.toLowerCase();
  const aliasIndex = config.accounts.findIndex(
    ({ email, mobile }) =>
      identifier !== "" && (mobile === identifier || (email !== "" && email.toLowerCase() === lowerCase)),
  );
  if (aliasIndex === -1) throw notFoundError(`the account ${JSON.stringify(identifier)}`);
  return aliasIndex;
}

/** Whether two accounts are the same account, although their identifiers may differ. */
export function isSameAccount(a: Account, b: Account): boolean {
  if (a.email !== "" && a.email.toLowerCase() === b.email.toLowerCase()) return true;
  if (a.mobile !== "" && a.mobile === b.mobile) return true;
  const hasName = (account: Account) => account.email !== "" || account.mobile !== "";
  return !hasName(a) && !hasName(b) && a.token === b.token;
}
