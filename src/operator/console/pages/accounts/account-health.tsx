import type { Account } from "../../api/accounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { summarizeActivity } from "./activity-summary.ts";
import { texts } from "./texts.ts";
import type { TestState } from "./use-tests.ts";

interface AccountHealthProps {
  readonly account: Account;
  readonly test: TestState | undefined;
}

/** Shows an account's condition, based on its latest test or request, and what is left of its quotas. */
export function AccountHealth({ account, test }: AccountHealthProps) {
  return (
    <>
      <Condition account={account} test={test} />
      {account.quotas.length > 0 && <span class="muted cut">{describeQuotas(account)}</span>}
    </>
  );
}

function describeQuotas({ quotas }: Account): string {
  return quotas.map(({ name, remaining }) => texts.left(name, Math.round(remaining * 100))).join(", ");
}

function Condition({ account, test }: AccountHealthProps) {
  if (test === "running") return <Badge tone="live">{texts.testing}</Badge>;
  const { cooldown } = account;
  if (account.disabled) return <Badge tone="neutral">{texts.disabled}</Badge>;
  if (cooldown) {
    const remaining = Math.max(0, cooldown.until - Date.now());
    return (
      <>
        <Badge tone="warn" title={cooldown.reason}>
          {texts.coolsDown(formatDuration(remaining))}
        </Badge>
        <span class="muted cut" title={cooldown.reason}>
          {cooldown.reason}
        </span>
      </>
    );
  }
  if (test !== undefined && !test.success) {
    return (
      <>
        <Badge tone="bad">{words.failed}</Badge>
        <span class="muted cut" title={test.message}>
          {test.message}
        </span>
      </>
    );
  }
  if (test !== undefined) {
    return (
      <>
        <Badge tone="good">{texts.ok}</Badge>
        <span class="muted cut">
          {texts.sessions(formatDuration(test.response_time), test.session_count)}
        </span>
      </>
    );
  }
  const summary = summarizeActivity(account);
  if (summary !== null) {
    const { good, text, title } = summary;
    return (
      <>
        <Badge tone={good ? "good" : "warn"}>{good ? texts.ok : texts.failing}</Badge>
        <span class="muted cut" title={title}>
          {text}
        </span>
      </>
    );
  }
  if (account.condition === "ok") return <Badge tone="good">{texts.ok}</Badge>;
  if (account.condition === "failing") return <Badge tone="bad">{texts.failing}</Badge>;
  return <Badge tone="neutral">{texts.notTested}</Badge>;
}
