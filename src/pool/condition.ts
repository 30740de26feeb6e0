import type { AccountActivity, AccountCondition } from "../platform/account-status.ts";

/** What tells how an account is. */
interface Told {
  readonly disabled: boolean;
  readonly cooling: boolean;
  /** As of `AccountHealth`. */
  readonly testStatus: string;
  readonly activity: Pick<AccountActivity, "lastSuccess" | "lastFault">;
}

/** How an account is, by what its requests and tests have come to: the newest of it counts. */
export function conditionOf({ disabled, cooling, testStatus, activity }: Told): AccountCondition {
  if (disabled) return "disabled";
  if (cooling) return "cooling";
  const { lastSuccess, lastFault } = activity;
  if (lastFault !== null && lastFault.at > lastSuccess) return "failing";
  if (lastSuccess > 0 || testStatus === "ok") return "ok";
  return testStatus === "" ? "untested" : "failing";
}
