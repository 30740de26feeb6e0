import type { Account } from "../../api/accounts.ts";
import { formatFullTime } from "../../ui/format.ts";

/** Summary of an account's requests. */
export interface ActivitySummary {
  /** It is not failing, by the gateway's rule. */
  readonly good: boolean;
  readonly text: string;
  /** All further details. */
  readonly title: string;
}

type Rate = { readonly requests: number; readonly succeeded: number };

const percent = ({ requests, succeeded }: Rate): string =>
  `${Math.floor((100 * succeeded) / requests)} % of ${requests}`;

/** Summarizes an account's activity; null if there were no requests. */
export function summarizeActivity({
  activity,
  condition,
}: Pick<Account, "activity" | "condition">): ActivitySummary | null {
  if (!activity || activity.last_day.requests === 0) return null;
  const { in_flight, last_used, last_success, last_fault, last_hour, last_day } = activity;
  const hour = last_hour.requests === 0 ? "no request" : percent(last_hour);
  const lines = [
    `Last hour: ${hour}; last day: ${percent(last_day)}`,
    `In flight: ${in_flight}`,
    `Last used: ${formatFullTime(last_used)}`,
    `Last success: ${formatFullTime(last_success)}`,
  ];
  if (last_fault) {
    const { at, reason, kind, fault } = last_fault;
    lines.push(`Last fault (${fault}): ${formatFullTime(at)}, ${reason} (${kind})`);
  }
  const reasonText =
    last_hour.requests === 0 ? `${percent(last_day)} in a day` : `${percent(last_hour)} in an hour`;
  return { good: condition !== "failing", text: reasonText, title: lines.join("\n") };
}
