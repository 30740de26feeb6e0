import { QUEUE_SHOWN, type QueueStatus } from "../../api/queue.ts";
import { formatHref } from "../../routing.ts";
import { type AccountNames, labelAccount } from "../../shared/account-names.ts";
import { formatCount } from "../../ui/count.ts";
import { Empty } from "../../ui/empty.tsx";
import { formatDuration } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { texts } from "./texts.ts";

interface AccountSlots {
  readonly account: string;
  readonly used: number;
  /** 0: no limit. */
  readonly limit: number;
  /** Remaining cooldown in milliseconds; 0: no cooldown. */
  readonly cooling: number;
  readonly reason: string;
}

/** The accounts that the queue status names. */
export const listAccounts = (queue: QueueStatus): ReadonlySet<string> =>
  new Set([
    ...queue.available_accounts,
    ...queue.in_use_accounts,
    ...queue.cooldowns.map(({ account }) => account),
  ]);

/**
 * Lists the slots of the reported accounts. If there are many accounts, those with problems come first; the rest is sorted
 * by name.
 */
function accountSlots(queue: QueueStatus): AccountSlots[] {
  const usedSlots = new Map<string, number>();
  for (const { account } of queue.leases) usedSlots.set(account, (usedSlots.get(account) ?? 0) + 1);
  const cooldowns = new Map(queue.cooldowns.map((cooldown) => [cooldown.account, cooldown]));
  const now = Date.now();
  const weight = ({ used: slots, cooling: remaining }: AccountSlots) => slots + (remaining > 0 ? 1_000 : 0);
  return [...listAccounts(queue)]
    .map((account) => {
      const cooldown = cooldowns.get(account);
      return {
        account,
        used: usedSlots.get(account) ?? 0,
        limit: queue.account_slots?.[account] ?? queue.max_inflight_per_account,
        cooling: cooldown === undefined ? 0 : Math.max(1, cooldown.until - now),
        reason: cooldown?.reason ?? "",
      };
    })
    .sort((a, b) => (queue.total > QUEUE_SHOWN ? weight(b) - weight(a) : a.account.localeCompare(b.account)));
}

/** Whether accounts of some providers have no limit: they count no slots. */
export const hasUnlimitedAccounts = (queue: QueueStatus): boolean =>
  queue.recommended_concurrency < queue.total * queue.max_inflight_per_account;

export interface SlotsProps {
  readonly queue: QueueStatus | null;
  readonly names: AccountNames;
}

/** One dot per slot of each account. A filled dot is an occupied slot. */
export function Slots({ queue, names }: SlotsProps) {
  if (queue === null)
    return (
      <Panel
        folds
        title={texts.slotsTitle}
        class="slots-panel"
        children={<p class="muted">{texts.reading}</p>}
      />
    );
  const slots = accountSlots(queue);
  const shown = slots.slice(0, QUEUE_SHOWN);
  const more = queue.total - shown.length;
  return (
    <Panel folds title={texts.slotsTitle} class="slots-panel">
      {slots.length === 0 && (
        <Empty
          icon="accounts"
          title={texts.noAccounts}
          action={<a href={formatHref("accounts")}>{texts.addAccount}</a>}
        >
          {texts.requestsCannotBeAnsweredYet}
        </Empty>
      )}
      <ul class="slots">
        {shown.map(({ account, used, limit, cooling, reason }) => (
          <li
            key={account}
            class={
              cooling > 0
                ? "slot cooling"
                : limit > 0 && used >= limit
                  ? "slot full"
                  : used > 0
                    ? "slot busy"
                    : "slot"
            }
          >
            <span class="cut" title={account}>
              {labelAccount(account, names)}
            </span>
            <span class="dots" aria-hidden="true">
              {Array.from({ length: Math.min(limit, 8) }, (_, index) => (
                <i key={index} class={index < used ? "on" : ""} />
              ))}
            </span>
            <span class="slot-state muted tabular" title={reason}>
              {cooling > 0
                ? texts.cools(formatDuration(cooling))
                : limit === 0
                  ? texts.runningWithoutLimit(formatCount(used))
                  : `${used} / ${limit}`}
            </span>
          </li>
        ))}
      </ul>
      {hasUnlimitedAccounts(queue) && <p class="hint">{texts.unlimitedHint}</p>}
      {more > 0 && (
        <p class="muted">
          {texts.andMoreLink(formatCount(more), <a href={formatHref("accounts")}>{texts.allAccounts}</a>)}
        </p>
      )}
    </Panel>
  );
}
