import { useState } from "preact/hooks";
import { type ApiKey, deleteKey, exportConfig, readConfig } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { fullKey } from "./full-key.ts";
import { KeyForm } from "./key-form.tsx";

type Doing =
  | { readonly what: "nothing" | "add" }
  | { readonly what: "edit" | "delete"; readonly apiKey: ApiKey };

/** The keys that callers use. */
export function Keys() {
  const { data, error, reload } = useLoaded(readConfig);
  const [doing, setDoing] = useState<Doing>({ what: "nothing" });
  const close = () => setDoing({ what: "nothing" });
  const changed = async (said: string) => {
    toast(said);
    await reload();
  };
  const add = (
    <Button kind="primary" onClick={() => setDoing({ what: "add" })}>
      <Icon name="plus" />
      Add key
    </Button>
  );
  const keys = data?.api_keys ?? [];
  return (
    <Page
      title="Keys"
      lead="Callers that send one of these keys are spread over the accounts. Any other token goes to the provider as it is."
      actions={add}
    >
      <Problem error={error} retry={reload} />
      {data !== null && (
        <Panel>
          {keys.length === 0 ? (
            <Empty icon="keys" title="No keys yet" action={add}>
              Without a key callers need a token of the provider's own.
            </Empty>
          ) : (
            <div class="table-box">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Key</th>
                    <th scope="col">Remark</th>
                    <th scope="col">
                      <span class="hidden-text">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {keys.map((apiKey, index) => (
                    <tr key={apiKey.id}>
                      <td>
                        {apiKey.name === "" ? (
                          <span class="muted">no name</span>
                        ) : (
                          <strong>{apiKey.name}</strong>
                        )}
                      </td>
                      <td class="mono">{apiKey.key}</td>
                      <td class="muted">{apiKey.remark}</td>
                      <td>
                        <div class="actions">
                          <CopyButton
                            text={async () => fullKey((await exportConfig()).config, index)}
                            label={`Copy the key ${apiKey.name || apiKey.key}`}
                          />
                          <Button kind="quiet" onClick={() => setDoing({ what: "edit", apiKey })}>
                            Edit
                          </Button>
                          <Button kind="quiet" onClick={() => setDoing({ what: "delete", apiKey })}>
                            Delete
                          </Button>
                        </div>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Panel>
      )}
      {(doing.what === "add" || doing.what === "edit") && (
        <KeyForm apiKey={doing.what === "edit" ? doing.apiKey : null} onClose={close} onSaved={changed} />
      )}
      {doing.what === "delete" && (
        <Confirm
          title="Delete this key?"
          action="Delete key"
          onClose={close}
          run={async () => {
            await deleteKey(doing.apiKey.id);
            await changed("Key deleted");
          }}
        >
          <p>
            Callers that use <strong>{doing.apiKey.name || doing.apiKey.key}</strong> are refused from now on.
          </p>
        </Confirm>
      )}
    </Page>
  );
}
