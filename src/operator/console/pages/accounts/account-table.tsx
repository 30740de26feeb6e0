import { Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Account } from "../../api/accounts.ts";
import type { ProxyView } from "../../api/proxies.ts";
import type { Editing } from "../../ui/forms/editing.tsx";
import { useVirtualRows } from "../../ui/tables/use-virtual-rows.ts";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { AccountDetails } from "./account-details.tsx";
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
const COLUMN_COUNT = 6;

/** Returns the map with a value; the same one if it has that value. */
const withValue = <V,>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  map.get(key) === value ? map : new Map(map).set(key, value);

/** A virtual table of accounts: only visible rows exist, so that 5,000 rows scroll smoothly. */
export function AccountTable(props: AccountTableProps) {
  const { accounts, proxies, tests, selection, loading, editing, onSessions } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useIsNarrow();
  /** Rows whose details the user has opened or closed. */
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  /** Heights of the accounts' rows that were visible, in pixels. */
  const [rowHeights, setRowHeights] = useState<ReadonlyMap<string, number>>(new Map());
  /** Heights of the rows with details, in pixels. */
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map());
  /** The details of a failed test are open at first. */
  const isOpen = (identifier: string): boolean => {
    const test = tests.states.get(identifier);
    return toggled.get(identifier) ?? (test !== undefined && test !== "running" && !test.success);
  };
  const rowHeight = narrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  // On a narrow screen, long names have several lines.
  const addedHeights = accounts.map(
    ({ identifier }) =>
      (narrow ? Math.max(0, (rowHeights.get(identifier) ?? 0) - rowHeight) : 0) +
      (isOpen(identifier) ? (heights.get(identifier) ?? 0) : 0),
  );
  const addedKey = addedHeights.join();
  const extraHeights = useMemo(() => addedHeights, [addedKey]);
  const { items, height } = useVirtualRows(scroller, accounts.length, rowHeight, extraHeights);
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
            const { identifier } = account;
            const test = tests.states.get(identifier);
            return (
              <Fragment key={identifier}>
                <AccountRow
                  account={account}
                  index={index}
                  narrow={narrow}
                  proxy={names.get(account.proxy_id) ?? account.proxy_id}
                  chosen={selection.chosen.has(identifier)}
                  onChoose={(on) => selection.choose([identifier], on)}
                  test={test}
                  onTest={() => {
                    setToggled((before) => new Map([...before].filter(([name]) => name !== identifier)));
                    void tests.run(identifier);
                  }}
                  isOpen={isOpen(identifier)}
                  onToggle={() => setToggled((before) => withValue(before, identifier, !isOpen(identifier)))}
                  editing={editing}
                  onSessions={onSessions}
                  onHeight={(height) => setRowHeights((before) => withValue(before, identifier, height))}
                />
                {isOpen(identifier) && (
                  <AccountDetails
                    account={account}
                    test={test}
                    columnCount={COLUMN_COUNT}
                    onHeight={(height) => setHeights((before) => withValue(before, identifier, height))}
                  />
                )}
              </Fragment>
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
      <td colSpan={COLUMN_COUNT} style={{ height: `${height}px` }} />
    </tr>
  );
}
