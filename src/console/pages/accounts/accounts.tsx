import { useState } from "preact/hooks";
import { deleteAccount, LARGEST_PAGE, listAccounts } from "../../api/accounts.ts";
import { listProxies } from "../../api/proxies.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { plural } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { AccountForm } from "./account-form.tsx";
import { AccountTable } from "./account-table.tsx";
import { BulkImport } from "./bulk-import.tsx";
import { DeleteSessions } from "./delete-sessions.tsx";
import type { Doing } from "./doing.ts";
import { TestAll } from "./test-all.tsx";
import { useTests } from "./use-tests.ts";

const PAGE_SIZES = [10, 50, 200, 1_000, LARGEST_PAGE] as const;

/** Cooldowns come and go. Long pages are left alone: each costs as much as a hundred short ones. */
const REFRESH_MS = 10_000;
const LARGEST_REFRESHED = 200;

/** The accounts behind the gateway: find one, see how it is, change it. */
export function Accounts() {
  const [query, setQuery] = useState("");
  const [page, setPage] = useState(1);
  const [size, setSize] = useState(50);
  const [doing, setDoing] = useState<Doing>({ what: "nothing" });
  const { data, error, loading, reload } = useLoaded(
    (signal) => listAccounts(query, page, size, signal),
    `${query} ${page} ${size}`,
    size > LARGEST_REFRESHED ? 0 : REFRESH_MS,
  );
  const proxies = useLoaded(listProxies).data ?? [];
  const tests = useTests(reload);
  const close = () => setDoing({ what: "nothing" });
  const changed = async (said: string) => {
    toast(said);
    await reload();
  };
  const add = (
    <Button kind="primary" onClick={() => setDoing({ what: "add" })}>
      <Icon name="plus" />
      Add account
    </Button>
  );

  return (
    <Page
      title="Accounts"
      lead="The provider accounts that requests are spread over."
      actions={
        <>
          <Button onClick={() => setDoing({ what: "import" })}>Import</Button>
          {add}
        </>
      }
    >
      <div class="toolbar">
        <SearchBox
          label="Search accounts"
          onSearch={(text) => {
            setQuery(text);
            setPage(1);
          }}
        />
        <TestAll onDone={reload} />
      </div>
      <Problem error={error} retry={reload} />
      {data !== null && data.total === 0 && (
        <div class="panel">
          {query === "" ? (
            <Empty icon="accounts" title="No accounts yet" action={add}>
              Requests need at least one account at the provider. Add one, or paste a whole list with Import.
            </Empty>
          ) : (
            <Empty icon="accounts" title="No account matches">
              Nothing has “{query}” in its e-mail address, mobile number or token name.
            </Empty>
          )}
        </div>
      )}
      {data !== null && data.total > 0 && (
        <AccountTable
          accounts={data.items}
          proxies={proxies}
          tests={tests}
          loading={loading}
          onDo={setDoing}
        />
      )}
      {data !== null && data.total > 0 && (
        <Pager
          page={page}
          pages={data.total_pages}
          size={size}
          sizes={PAGE_SIZES}
          said={plural(data.total, "account")}
          onPage={setPage}
          onSize={(next) => {
            setSize(next);
            setPage(1);
          }}
        />
      )}
      {(doing.what === "add" || doing.what === "edit") && (
        <AccountForm
          account={doing.what === "edit" ? doing.account : null}
          proxies={proxies}
          onClose={close}
          onSaved={changed}
        />
      )}
      {doing.what === "delete" && (
        <Confirm
          title="Delete this account?"
          action="Delete account"
          onClose={close}
          run={async () => {
            await deleteAccount(doing.account.identifier);
            await changed("Account deleted");
          }}
        >
          <p>
            <strong>{doing.account.identifier}</strong> will no longer serve requests. The account at the
            provider stays as it is.
          </p>
        </Confirm>
      )}
      {doing.what === "sessions" && <DeleteSessions account={doing.account} onClose={close} />}
      {doing.what === "import" && <BulkImport onClose={close} onDone={changed} />}
    </Page>
  );
}
