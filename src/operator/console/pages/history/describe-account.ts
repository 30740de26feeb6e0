import { isTokenAccountId } from "../../../../core/config/provider-id.ts";
import type { HistorySummary } from "../../api/history.ts";
import { type AccountNames, labelAccount } from "../../shared/account-names.ts";
import { texts } from "./texts.ts";

/** The name of an account as users know it. A provider's own key belongs to no account, and has an id instead of a name. */
export const nameAccount = (account: string, names: AccountNames): string =>
  isTokenAccountId(account) ? texts.providerKey : labelAccount(account, names);

/**
 * The account that answered, or else the one that caused the error:
 * the last one that was tried may have failed for another reason.
 */
export function findShownAccount({
  account,
  status,
  error,
  tried,
}: Pick<HistorySummary, "account" | "status" | "error" | "tried">): string {
  const cause = status === "error" ? tried.find(({ message }) => message === error) : undefined;
  return cause?.account ?? account;
}

/**
 * Describes the account that served a generation. There is no account before the first attempt, and a caller's own token
 * has no name.
 */
export function describeAccount(
  record: Pick<HistorySummary, "account" | "attempts" | "status" | "error" | "tried">,
  names: AccountNames,
): string {
  const { attempts, status } = record;
  const account = findShownAccount(record);
  if (account !== "") return nameAccount(account, names);
  if (attempts > 0) return "pass-through";
  return status === "streaming" ? texts.noneYet : texts.noAccount;
}
