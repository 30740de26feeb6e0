import { useState } from "preact/hooks";
import { exportConfig } from "../../api/config.ts";
import { type ApiKey, deleteKey, eraseKeyData, listKeys, readKey } from "../../api/keys.ts";
import { setQuery, useAddress } from "../../routing.ts";
import { ConnectPanel } from "../../shared/connect-panel.tsx";
import { EraseData } from "../../shared/erase-data.tsx";
import { LimitBars } from "../../shared/limit-bars.tsx";
import { summarizeScope } from "../../shared/limit-draft.ts";
import { listLimitUse } from "../../shared/limit-use.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatCompact, formatCost } from "../../ui/format.ts";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { type Choice, SelectField } from "../../ui/forms/field.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Pager } from "../../ui/tables/pager.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { usePaging } from "../../ui/tables/use-paging.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { findFullKey } from "./full-key.ts";
import { describeKeyState } from "./key-expiry.ts";
import { KeyForm } from "./key-form.tsx";
import { KEY_ORDERS, type ListedKey, selectKeys } from "./key-list.ts";
import { RotateKey } from "./rotate-key.tsx";
import { texts } from "./texts.ts";

/** How often use is read again, in milliseconds. */
const REFRESH_MS = 15_000;

const PAGE_SIZES = [15, 50, 200] as const;
/** Rows with bars of limits are high. */
const ROWS_NARROW = 5;

const ORDER_CHOICES: readonly Choice[] = KEY_ORDERS.map((name) => [name, texts.orders[name]]);

/** Page for the callers' API keys. */
export function Keys() {
  const { data, error, reload } = useLoaded(listKeys, "", REFRESH_MS);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  /** The secret of a key that has just been added. */
  const [addedKey, setAddedKey] = useState("");
  const now = Date.now();
  const paging = usePaging(PAGE_SIZES[2], useIsNarrow() ? ROWS_NARROW : PAGE_SIZES[0]);
  const params = new URLSearchParams(useAddress().query);
  const order = KEY_ORDERS.find((name) => name === params.get("sort")) ?? "created";
  const sort = (next: string) => {
    params.set("sort", next);
    params.delete("page");
    setQuery(params.toString(), false);
  };
  const keys = selectKeys(data?.items ?? [], paging.query, order, now);
  const editing = useEditing<ApiKey>(reload);
  const add = <AddButton noun={texts.keyNoun} onClick={editing.add} />;
  const columns: Column<ListedKey>[] = [
    {
      title: words.name,
      cell: ({ apiKey: { name, remark, team, user } }) => (
        <>
          {name === "" ? (
            <span class="muted">{texts.noName}</span>
          ) : (
            <strong>
              <TruncatedText text={name} />
            </strong>
          )}
          {remark !== "" && (
            <div class="muted">
              <TruncatedText text={remark} />
            </div>
          )}
          {[team, user].some((id) => id !== "") && (
            <div class="muted">
              <TruncatedText text={[team, user].filter((id) => id !== "").join(" · ")} />
            </div>
          )}
        </>
      ),
    },
    {
      title: words.key,
      class: "mono nowrap",
      cell: ({ apiKey: { key, hashed } }) => (
        <span title={hashed ? texts.onlyDigestKept : undefined}>{key}</span>
      ),
    },
    {
      title: words.state,
      cell: ({ apiKey }) => {
        const { tone, text } = describeKeyState(apiKey, now);
        return (
          <>
            <Badge tone={tone}>{text}</Badge>
            {apiKey.expires > now && (
              <div class="muted">
                {texts.until} <Timestamp at={apiKey.expires} />
              </div>
            )}
          </>
        );
      },
    },
    {
      title: texts.lastUsed,
      class: "tabular muted",
      cell: ({
        apiKey: {
          last_used,
          used_today: { requests, tokens, cost },
        },
      }) => (
        <>
          <Timestamp at={last_used} />
          {requests > 0 && (
            <div>{texts.tokensToday(texts.requestCount(requests), formatCompact(tokens))}</div>
          )}
          {(cost > 0 || order === "cost") && <div>{texts.costToday(formatCost(cost))}</div>}
        </>
      ),
    },
    {
      title: words.limits,
      class: "muted whole",
      cell: ({ apiKey }) => (
        <>
          <LimitBars uses={listLimitUse(apiKey)} unpricedModels={apiKey.unpriced_models} />
          {summarizeScope(apiKey) !== "" && <TruncatedText text={summarizeScope(apiKey)} />}
        </>
      ),
    },
    actionColumn(({ apiKey, index }) => (
      <>
        {!apiKey.hashed && (
          <CopyButton
            text={async () => findFullKey((await exportConfig()).config, index)}
            label={texts.copyKeyName(apiKey.name || apiKey.key)}
            needs="owner"
          />
        )}
        <Button kind="quiet" needs="operator" onClick={() => setRotating(apiKey)}>
          {texts.rotate}
        </Button>
        <EraseData name={apiKey.name || apiKey.key} erase={() => eraseKeyData(apiKey.id)} />
        <EditButtons editing={editing} item={apiKey} />
      </>
    )),
  ];
  return (
    <Page title={words.keys} lead={texts.keysLead(<a href="/key">/key</a>)} actions={add}>
      <LoadState {...{ data, error, reload }} />
      {data !== null && data.items.length > 1 && (
        <div class="toolbar">
          <SearchBox label={texts.searchKeys} value={paging.query} onSearch={paging.search} />
          <SelectField label={texts.sortedBy} value={order} onChange={sort} choices={ORDER_CHOICES} />
        </div>
      )}
      {data !== null && (
        <Panel>
          <DataTable
            items={keys.slice((paging.page - 1) * paging.size, paging.page * paging.size)}
            keyOf={({ apiKey }) => apiKey.id}
            columns={columns}
            class="keys-table"
            empty={
              data.items.length === 0 ? (
                <Empty icon="keys" title={texts.noKeysYet} action={add}>
                  {texts.withoutKeyCallersNeedToken}
                </Empty>
              ) : (
                <p class="muted">{texts.noKeyMatches}</p>
              )
            }
          />
        </Panel>
      )}
      {keys.length > paging.size && (
        <Pager
          paging={paging}
          pages={Math.ceil(keys.length / paging.size)}
          sizes={PAGE_SIZES}
          total={texts.keyCount(keys.length)}
        />
      )}
      {addedKey !== "" && (
        <Dialog title={texts.connectWithNewKey} onClose={() => setAddedKey("")} wide>
          <div class="dialog-body">
            <ConnectPanel initialKey={addedKey} />
          </div>
        </Dialog>
      )}
      {rotating !== null && (
        <RotateKey apiKey={rotating} onClose={() => setRotating(null)} onRotated={reload} />
      )}
      <EditDialogs
        editing={editing}
        noun={texts.keyNoun}
        form={(apiKey, props) => <KeyForm apiKey={apiKey} onAdded={setAddedKey} {...props} />}
        read={({ id }) => readKey(id)}
        remove={({ id }) => deleteKey(id)}
        warning={({ name, key }) => <>{texts.deleteKeyWarning(<strong>{name || key}</strong>)}</>}
      />
    </Page>
  );
}
