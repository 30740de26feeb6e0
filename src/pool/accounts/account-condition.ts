import type { AccountActivity, AccountCondition } from "../../core/ports/account-status.ts";

/** The facts that determine an account's condition. */
interface ConditionInput {
  readonly disabled: boolean;
  readonly cooling: boolean;
  /** The text of `AccountHealth.testStatus`. */
  readonly testStatus: string;
  /** See `Health.isFailing`. */
  readonly isFailing: boolean;
  readonly activity: Pick<AccountActivity, "lastSuccess">;
}

/** Derives an account's condition from its latest requests and tests. */
export function classifyCondition({
  disabled,
  cooling,
  testStatus,
  isFailing,
  activity,
}: ConditionInput): AccountCondition {
  if (disabled) return "disabled";
  if (cooling) return "cooling";
  if (isFailing) return "failing";
  if (activity.lastSuccess > 0 || testStatus === "ok") return "ok";
  return testStatus === "" ? "untested" : "failing";
}
