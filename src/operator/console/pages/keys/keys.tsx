import { useState } from "preact/hooks";
import { type ApiKey, deleteKey, exportConfig, listKeys, readKey } from "../../api/config.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/editing.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatCompact, formatFullTime } from "../../ui/format.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { ConnectPanel } from "../connect/connect-panel.tsx";
import { findFullKey } from "./full-key.ts";
import { describeKeyState } from "./key-expiry.ts";
import { KeyForm } from "./key-form.tsx";
import { summarizeScope } from "./limit-draft.ts";
import { RotateKey } from "./rotate-key.tsx";
import { texts } from "./texts.ts";

/** Page for the callers' API keys. */
export function Keys() {
  const { data, error, reload } = useLoaded(listKeys);
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  /** The secret of a key that has just been added. */
  const [addedKey, setAddedKey] = useState("");
  const now = Date.now();
  const editing = useEditing<ApiKey>(reload);
  const add = <AddButton noun={texts.keyNoun} onClick={editing.add} />;
  const columns: Column<ApiKey>[] = [
    {
      title: words.name,
      cell: ({ name, remark }) => (
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
        </>
      ),
    },
    {
      title: words.key,
      class: "mono",
      cell: ({ key, hashed }) => <span title={hashed ? texts.onlyDigestKept : undefined}>{key}</span>,
    },
    {
      title: words.state,
      cell: (apiKey) => {
        const { tone, text } = describeKeyState(apiKey, now);
        return (
          <Badge
            tone={tone}
            title={apiKey.expires === 0 ? "" : texts.expiresExpires(formatFullTime(apiKey.expires))}
          >
            {text}
          </Badge>
        );
      },
    },
    {
      title: texts.lastUsed,
      class: "tabular muted",
      cell: ({ last_used, used_today: { requests, tokens } }) => (
        <>
          <Timestamp at={last_used} />
          {requests > 0 && (
            <div>{texts.tokensToday(texts.requestCount(requests), formatCompact(tokens))}</div>
          )}
        </>
      ),
    },
    {
      title: texts.limits,
      class: "muted",
      cell: (apiKey) => <TruncatedText text={summarizeScope(apiKey)} />,
    },
    actionColumn((apiKey, index) => (
      <>
        {!apiKey.hashed && (
          <CopyButton
            text={async () => findFullKey((await exportConfig()).config, index)}
            label={texts.copyKeyName(apiKey.name || apiKey.key)}
          />
        )}
        <Button kind="quiet" onClick={() => setRotating(apiKey)}>
          {texts.rotate}
        </Button>
        <EditButtons editing={editing} item={apiKey} />
      </>
    )),
  ];
  return (
    <Page title={words.keys} lead={texts.requestsWithTheseKeysUse(<a href="/key">/key</a>)} actions={add}>
      <Problem error={error} retry={reload} />
      {data !== null && (
        <Panel>
          <DataTable
            items={data.items}
            keyOf={({ id }) => id}
            columns={columns}
            class="keys-table"
            empty={
              <Empty icon="keys" title={texts.noKeysYet} action={add}>
                {texts.withoutKeyCallersNeedToken}
              </Empty>
            }
          />
        </Panel>
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
        warning={({ name, key }) => <>{texts.callersUseRefusedImmediately(<strong>{name || key}</strong>)}</>}
      />
    </Page>
  );
}
