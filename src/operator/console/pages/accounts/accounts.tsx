import { useState } from "preact/hooks";
import { type Account, deleteAccount, LARGEST_PAGE, listAccounts, readAccount } from "../../api/accounts.ts";
import { listProviders } from "../../api/providers.ts";
import { listProxies } from "../../api/proxies.ts";
import { useAddress } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AddButton, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/tables/pager.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { usePaging } from "../../ui/tables/use-paging.ts";
import { words } from "../../ui/words.ts";
import { AccountFilters, parseFilter } from "./account-filters.tsx";
import { AccountForm } from "./account-form.tsx";
import { AccountTable } from "./account-table.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkImport } from "./bulk-import.tsx";
import { DeleteSessions } from "./delete-sessions.tsx";
import { useSelection } from "./selection.ts";
import { TestAll } from "./test-all.tsx";
import { texts } from "./texts.ts";
import { useTests } from "./use-tests.ts";

/** Only the visible rows exist, in a box of the screen's height. */
const ROWS_AT_FIRST = 50;
const PAGE_SIZES = [10, 50, 200, 1_000, LARGEST_PAGE] as const;

/** Refresh interval, because cooldowns change. Long pages are not refreshed: each costs as much as 100 short ones. */
const REFRESH_MS = 10_000;
const MAX_REFRESHED_PAGE_SIZE = 200;

/** Page that lists, filters and edits the accounts. */
export function Accounts() {
  const paging = usePaging(LARGEST_PAGE, ROWS_AT_FIRST);
  const { query, page, size } = paging;
  const address = useAddress().query;
  const filter = parseFilter(address);
  const { data, error, loading, reload } = useLoaded(
    (signal) => listAccounts(filter, page, size, signal),
    address,
    size > MAX_REFRESHED_PAGE_SIZE ? 0 : REFRESH_MS,
  );
  const proxies = useLoaded(listProxies).data ?? [];
  const allProviders = useLoaded(listProviders).data ?? [];
  const providers = allProviders.filter(({ read_only }) => !read_only);
  const tests = useTests(reload);
  const selection = useSelection();
  const isFiltered = filter.health !== "" || filter.proxy !== null || filter.provider !== null;
  /** Only the accounts of one provider are shown. */
  const isOfProvider = filter.provider !== null && filter.health === "" && filter.proxy === null;
  const editing = useEditing<Account>(reload);
  const [importing, setImporting] = useState(false);
  const [sessionsAccount, setSessionsAccount] = useState<Account | null>(null);
  const add = <AddButton noun={texts.accountNoun} onClick={editing.add} />;

  return (
    <Page
      title={words.accounts}
      lead={texts.lead}
      actions={
        <>
          <Button needs="operator" onClick={() => setImporting(true)}>
            {texts.import}
          </Button>
          {add}
        </>
      }
    >
      <div class="toolbar">
        <SearchBox label={texts.searchAccounts} value={query} onSearch={paging.search} />
        <AccountFilters query={address} proxies={proxies} providers={providers} />
        <TestAll chosen={selection.chosen} onDone={reload} />
      </div>
      <BulkBar selection={selection} proxies={proxies} changed={editing.changed} />
      <LoadState {...{ data, error, reload }} />
      {data !== null && data.total === 0 && (
        <div class="panel">
          {query === "" && (!isFiltered || isOfProvider) ? (
            <Empty icon="accounts" title={texts.noAccountsYet} action={add}>
              {texts.noAccountsHint}
            </Empty>
          ) : (
            <Empty icon="accounts" title={texts.noAccountMatches}>
              {query === "" ? texts.noAccountMatchesFilters : texts.noAccountContains(query)}
            </Empty>
          )}
        </div>
      )}
      {data !== null && data.total > 0 && (
        <AccountTable
          accounts={data.items}
          proxies={proxies}
          tests={tests}
          selection={selection}
          loading={loading}
          editing={editing}
          onSessions={setSessionsAccount}
        />
      )}
      {data !== null && data.total > 0 && (
        <Pager
          paging={paging}
          pages={data.total_pages}
          sizes={PAGE_SIZES}
          total={words.accountCount(data.total)}
        />
      )}
      <EditDialogs
        editing={editing}
        noun={texts.accountNoun}
        form={(account, props) => (
          <AccountForm
            account={account}
            proxies={proxies}
            providers={providers}
            firstProvider={filter.provider}
            hasDefaultProvider={allProviders.length > providers.length}
            onAdded={tests.run}
            {...props}
          />
        )}
        read={({ identifier }) => readAccount(identifier)}
        remove={({ identifier }) => deleteAccount(identifier)}
        warning={({ identifier }) => <>{texts.deletionWarning(<strong>{identifier}</strong>)}</>}
      />
      {sessionsAccount !== null && (
        <DeleteSessions account={sessionsAccount} onClose={() => setSessionsAccount(null)} />
      )}
      {importing && <BulkImport onClose={() => setImporting(false)} onDone={editing.changed} />}
    </Page>
  );
}
