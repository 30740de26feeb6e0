import type { HistorySummary } from "../../api/history.ts";
import { texts } from "./texts.ts";

/** The name of an account as users know it. A provider's own key belongs to no account, and has an id instead of a name. */
export const nameAccount = (account: string): string =>
  account.startsWith("provider:") ? texts.providerKey : account;

/**
 * Describes the account that served a generation. There is no account before the first attempt, and a caller's own token
 * has no name.
 */
export function describeAccount({
  account,
  attempts,
  status,
}: Pick<HistorySummary, "account" | "attempts" | "status">): string {
  if (account !== "") return nameAccount(account);
  if (attempts > 0) return "pass-through";
  return status === "streaming" ? texts.noneYet : texts.noAccount;
}
