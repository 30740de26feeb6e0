import { isTokenAccountId } from "../../../../core/config/provider-id.ts";
import type { QueueStatus } from "../../api/queue.ts";
import { formatHref } from "../../routing.ts";
import { CONDITIONS } from "../../shared/account-conditions.ts";
import { type AccountNames, labelAccount } from "../../shared/account-names.ts";
import { formatCount } from "../../ui/count.ts";
import { formatDuration, formatTime } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { listAccounts } from "./slots.tsx";
import { texts } from "./texts.ts";

interface FailingAccount {
  readonly account: string;
  readonly state: string;
  readonly reason: string;
}

const createColumns = (names: AccountNames): readonly Column<FailingAccount>[] => [
  {
    title: words.account,
    cell: ({ account }) => (
      <a class="cut" href={formatHref("accounts", "", new URLSearchParams({ q: account }).toString())}>
        {labelAccount(account, names)}
      </a>
    ),
  },
  { title: words.state, cell: ({ state }) => state },
  { title: texts.reason, class: "muted whole", cell: ({ reason }) => reason },
];

/** Maximum number of accounts listed with their reason. */
const MAX_FAILING_SHOWN = { wide: 3, narrow: 2 };

function listFailingAccounts({ cooldowns, failing }: QueueStatus): FailingAccount[] {
  const now = Date.now();
  return [
    ...failing.map(({ account, reason, at }) => ({
      account,
      reason,
      state: at === 0 ? texts.failedTest : texts.failed(formatTime(at)),
    })),
    ...cooldowns.map(({ account, reason, until }) => ({
      account,
      reason,
      state: texts.coolsDown(formatDuration(Math.max(0, until - now))),
    })),
  ];
}

interface AccountStateProps {
  readonly queue: QueueStatus;
  readonly names: AccountNames;
}

/**
 * Shows the number of accounts per condition and the accounts with problems. Its size does not grow with the number of
 * accounts.
 */
export function AccountState({ queue, names }: AccountStateProps) {
  const { conditions, total } = queue;
  const isNarrow = useIsNarrow();
  const shown = listFailingAccounts(queue).slice(
    0,
    isNarrow ? MAX_FAILING_SHOWN.narrow : MAX_FAILING_SHOWN.wide,
  );
  const more = conditions.failing + conditions.cooling - shown.length;
  if (total === 0) return null;
  const tokens = [...listAccounts(queue)].filter(isTokenAccountId).length;
  return (
    <Panel
      title={words.accounts}
      actions={<a href={formatHref("accounts")}>{texts.all(formatCount(total))}</a>}
    >
      <ul class="conditions">
        {CONDITIONS.map(([name, label, tone]) => (
          <li key={name} class={conditions[name] > 0 ? tone : ""}>
            <a href={formatHref("accounts", "", `health=${name}`)}>
              <strong class="tabular">{formatCount(conditions[name])}</strong> {label}
            </a>
          </li>
        ))}
      </ul>
      {tokens > 0 && <p class="hint">{texts.ofWhichTokens(tokens)}</p>}
      {shown.length > 0 && (
        <DataTable
          items={shown}
          keyOf={({ account, state }) => account + state}
          columns={createColumns(names)}
        />
      )}
      {more > 0 && <p class="muted">{texts.andMore(formatCount(more))}</p>}
    </Panel>
  );
}
