import type { HistorySummary } from "../../api/history.ts";
import { texts } from "./texts.ts";

/**
 * Describes the account that served a generation. There is no account before the first attempt, and a caller's own token
 * has no name.
 */
export function describeAccount({
  account,
  attempts,
  status,
}: Pick<HistorySummary, "account" | "attempts" | "status">): string {
  // The id of a provider's own key, which belongs to no account.
  if (account.startsWith("provider:")) return texts.providerKey;
  if (account !== "") return account;
  if (attempts > 0) return "pass-through";
  return status === "streaming" ? texts.noneYet : texts.noAccount;
}
