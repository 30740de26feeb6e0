import type { Account } from "../../api/accounts.ts";
import { formatFullTime } from "../../ui/format.ts";
import { texts } from "./texts.ts";

/** Summary of an account's requests. */
export interface ActivitySummary {
  /** It is not failing, by the gateway's rule. */
  readonly good: boolean;
  readonly text: string;
  /** All further details. */
  readonly title: string;
}

type Rate = { readonly requests: number; readonly succeeded: number };

const percent = ({ requests, succeeded }: Rate): number => Math.floor((100 * succeeded) / requests);

/** Summarizes an account's activity; null if there were no requests. */
export function summarizeActivity({
  activity,
  condition,
}: Pick<Account, "activity" | "condition">): ActivitySummary | null {
  if (!activity || activity.last_day.requests === 0) return null;
  const { in_flight, last_used, last_success, last_fault, last_hour, last_day } = activity;
  const day = texts.successPerDay(percent(last_day), last_day.requests);
  const hour =
    last_hour.requests === 0 ? texts.noRequest : texts.successPerHour(percent(last_hour), last_hour.requests);
  const lines = [
    hour,
    day,
    texts.inFlight(in_flight),
    texts.lastUsed(formatFullTime(last_used)),
    texts.lastSuccess(formatFullTime(last_success)),
  ];
  if (last_fault) {
    const { at, reason, kind, fault } = last_fault;
    lines.push(texts.lastFault(texts.faults[fault], formatFullTime(at), reason, kind));
  }
  const good = condition !== "failing";
  const rate = last_hour.requests === 0 ? day : hour;
  return {
    good,
    text: good || !last_fault ? rate : last_fault.reason,
    title: lines.join("\n"),
  };
}
