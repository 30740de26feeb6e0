import { type ApiKey, deleteKey, exportConfig, readConfig } from "../../api/config.ts";
import { Clipped } from "../../ui/clipped.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/editing.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { fullKey } from "./full-key.ts";
import { KeyForm } from "./key-form.tsx";
import { summaryOf } from "./limit-draft.ts";

/** The keys that callers use. */
export function Keys() {
  const { data, error, reload } = useLoaded(readConfig);
  const editing = useEditing<ApiKey>(reload);
  const add = <AddButton noun="key" onClick={editing.add} />;
  const columns: Column<ApiKey>[] = [
    {
      title: "Name",
      cell: ({ name }) =>
        name === "" ? (
          <span class="muted">no name</span>
        ) : (
          <strong>
            <Clipped text={name} />
          </strong>
        ),
    },
    { title: "Key", class: "mono", cell: ({ key }) => key },
    { title: "Remark", class: "muted", cell: ({ remark }) => <Clipped text={remark} /> },
    {
      title: "Limits",
      class: "muted",
      cell: (apiKey) => <Clipped text={summaryOf(apiKey)} />,
    },
    actionColumn((apiKey, index) => (
      <>
        <CopyButton
          text={async () => fullKey((await exportConfig()).config, index)}
          label={`Copy the key ${apiKey.name || apiKey.key}`}
        />
        <EditButtons editing={editing} item={apiKey} />
      </>
    )),
  ];
  return (
    <Page
      title="Keys"
      lead="Callers that send one of these keys are spread over the accounts. Any other token goes to the provider as it is."
      actions={add}
    >
      <Problem error={error} retry={reload} />
      {data !== null && (
        <Panel>
          <DataTable
            items={data.api_keys}
            keyOf={({ id }) => id}
            columns={columns}
            empty={
              <Empty icon="keys" title="No keys yet" action={add}>
                Without a key callers need a token of the provider's own.
              </Empty>
            }
          />
        </Panel>
      )}
      <EditDialogs
        editing={editing}
        noun="key"
        form={(apiKey, props) => <KeyForm apiKey={apiKey} {...props} />}
        remove={({ id }) => deleteKey(id)}
        warning={({ name, key }) => (
          <>
            Callers that use <strong>{name || key}</strong> are refused from now on.
          </>
        )}
      />
    </Page>
  );
}
