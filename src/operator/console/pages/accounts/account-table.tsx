import { useRef } from "preact/hooks";
import type { Account } from "../../api/accounts.ts";
import type { ProxyView } from "../../api/proxies.ts";
import type { Editing } from "../../ui/editing.tsx";
import { useIsNarrow } from "../../ui/use-media.ts";
import { useVirtualRows } from "../../ui/use-virtual-rows.ts";
import { words } from "../../ui/words.ts";
import { AccountRow } from "./account-row.tsx";
import type { Selection } from "./selection.ts";
import { texts } from "./texts.ts";
import type { Tests } from "./use-tests.ts";

interface AccountTableProps {
  readonly accounts: readonly Account[];
  readonly proxies: readonly ProxyView[];
  readonly tests: Tests;
  readonly selection: Selection;
  readonly loading: boolean;
  readonly editing: Editing<Account>;
  /** Called to delete an account's sessions. */
  readonly onSessions: (account: Account) => void;
}

/** Pixels; the style sheet contains the same values. */
const ROW_HEIGHT = 56;
const NARROW_ROW_HEIGHT = 104;

/** A virtual table of accounts: only visible rows exist, so that 5,000 rows scroll smoothly. */
export function AccountTable(props: AccountTableProps) {
  const { accounts, proxies, tests, selection, loading, editing, onSessions } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useIsNarrow();
  const { items, height } = useVirtualRows(
    scroller,
    accounts.length,
    narrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
  );
  const names = new Map(proxies.map(({ id, name }) => [id, name || id]));
  const listed = accounts.map(({ identifier }) => identifier);
  const allSelected = listed.every((identifier) => selection.chosen.has(identifier));
  const [first] = items;
  const last = items.at(-1);
  return (
    <div class="panel account-table" aria-busy={loading} ref={scroller}>
      <table aria-rowcount={accounts.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="account-choice">
              <input
                type="checkbox"
                aria-label={texts.selectPage}
                checked={allSelected}
                onChange={() => selection.choose(listed, !allSelected)}
              />
            </th>
            <th scope="col">{words.account}</th>
            <th scope="col">{texts.health}</th>
            <th scope="col" class="account-token">
              {texts.token}
            </th>
            <th scope="col" class="account-proxy">
              {texts.proxy}
            </th>
            <th scope="col" class="account-actions">
              <span class="hidden-text">{words.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Spacer height={first?.start ?? 0} />
          {items.map(({ index }) => {
            const account = accounts[index];
            if (account === undefined) return null;
            return (
              <AccountRow
                key={account.identifier}
                account={account}
                index={index}
                proxy={names.get(account.proxy_id) ?? account.proxy_id}
                chosen={selection.chosen.has(account.identifier)}
                onChoose={(on) => selection.choose([account.identifier], on)}
                test={tests.states.get(account.identifier)}
                onTest={() => void tests.run(account.identifier)}
                editing={editing}
                onSessions={onSessions}
              />
            );
          })}
          <Spacer height={height - (last?.end ?? 0)} />
        </tbody>
      </table>
    </div>
  );
}

/** Fills the space of rows that are not visible. */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr class="spacer">
      <td colSpan={6} style={{ height: `${height}px` }} />
    </tr>
  );
}
