import type { Account } from "../../api/accounts.ts";
import { formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { summarizeActivity } from "./activity-summary.ts";
import { texts } from "./texts.ts";
import type { TestState } from "./use-tests.ts";

/** What the list shows of an account's condition, by its latest test or request. */
export interface HealthView {
  readonly tone: "good" | "bad" | "warn" | "live" | "neutral";
  readonly label: string;
  /** One line; empty: nothing to add. */
  readonly text: string;
  /** All that is known, in whole sentences; the provider's own words included. */
  readonly lines: readonly string[];
}

function describeQuotas({ quotas }: Pick<Account, "quotas">): string {
  return quotas.map(({ name, remaining }) => texts.left(name, Math.round(remaining * 100))).join(", ");
}

type ShownAccount = Pick<Account, "activity" | "condition" | "cooldown" | "disabled" | "quotas">;

function describeCondition(account: ShownAccount, test: TestState | undefined): Omit<HealthView, "lines"> {
  const { cooldown, condition } = account;
  if (test === "running") return { tone: "live", label: texts.testing, text: "" };
  if (account.disabled) return { tone: "neutral", label: texts.disabled, text: "" };
  if (cooldown) {
    const remaining = formatDuration(Math.max(0, cooldown.until - Date.now()));
    return { tone: "warn", label: texts.coolsDown(remaining), text: cooldown.reason };
  }
  if (test !== undefined) {
    if (!test.success) return { tone: "bad", label: words.failed, text: test.message };
    const text = texts.sessions(formatDuration(test.response_time), test.session_count);
    return { tone: "good", label: texts.ok, text };
  }
  const summary = summarizeActivity(account);
  if (summary !== null) {
    const { good, text } = summary;
    return { tone: good ? "good" : "warn", label: good ? texts.ok : texts.failing, text };
  }
  if (condition === "ok") return { tone: "good", label: texts.ok, text: "" };
  if (condition === "failing") return { tone: "bad", label: texts.failing, text: "" };
  return { tone: "neutral", label: texts.notTested, text: "" };
}

/** Describes an account's condition, and what is left of its quotas. */
export function describeHealth(account: ShownAccount, test: TestState | undefined): HealthView {
  const quotas = describeQuotas(account);
  const condition = describeCondition(account, test);
  const failedTest = test !== undefined && test !== "running" && !test.success ? test.message : "";
  const activity = summarizeActivity(account)?.title.split("\n") ?? [];
  // A test says the same as the cooldown that it caused, and the kind of the failure.
  const reason = failedTest.startsWith(condition.text) ? failedTest : condition.text;
  const lines = [...new Set([reason, failedTest, ...activity, quotas])].filter((line) => line !== "");
  const text = [condition.text, quotas].filter((part) => part !== "").join(" · ");
  return { ...condition, text: text || (lines[0] ?? ""), lines };
}
