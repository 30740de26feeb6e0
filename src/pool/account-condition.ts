import type { AccountActivity, AccountCondition } from "../core/ports/account-status.ts";

/** The facts that determine an account's condition. */
interface ConditionInput {
  readonly disabled: boolean;
  readonly cooling: boolean;
  /** The text of `AccountHealth.testStatus`. */
  readonly testStatus: string;
  readonly activity: Pick<AccountActivity, "lastSuccess" | "lastFault">;
}

/** Derives an account's condition from its requests and tests: the newest result counts. */
export function classifyCondition({
  disabled,
  cooling,
  testStatus,
  activity,
}: ConditionInput): AccountCondition {
  if (disabled) return "disabled";
  if (cooling) return "cooling";
  const { lastSuccess, lastFault } = activity;
  if (lastFault !== null && lastFault.at > lastSuccess) return "failing";
  if (lastSuccess > 0 || testStatus === "ok") return "ok";
  return testStatus === "" ? "untested" : "failing";
}
