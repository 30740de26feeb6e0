import { useState } from "preact/hooks";
import { messageOf } from "../../api/client.ts";
import {
  deleteProxy,
  listProxies,
  type ProxyTest,
  type ProxyView,
  testSavedProxy,
} from "../../api/proxies.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { ProxyForm } from "./proxy-form.tsx";
import { ProxyOutcome } from "./proxy-outcome.tsx";

type Doing =
  | { readonly what: "nothing" | "add" }
  | { readonly what: "edit" | "delete"; readonly proxy: ProxyView };

/** The proxies that accounts' traffic to the provider can go through. */
export function Proxies() {
  const { data, error, reload } = useLoaded(listProxies);
  const [doing, setDoing] = useState<Doing>({ what: "nothing" });
  const [tests, setTests] = useState<ReadonlyMap<string, ProxyTest | "running">>(new Map());
  const close = () => setDoing({ what: "nothing" });
  const changed = async (said: string) => {
    toast(said);
    await reload();
  };
  const test = async (id: string) => {
    const note = (state: ProxyTest | "running") => setTests((before) => new Map(before).set(id, state));
    note("running");
    note(
      await testSavedProxy(id).catch((thrown) => ({
        success: false,
        latency_ms: 0,
        message: messageOf(thrown),
      })),
    );
  };
  const add = (
    <Button kind="primary" onClick={() => setDoing({ what: "add" })}>
      <Icon name="plus" />
      Add proxy
    </Button>
  );
  return (
    <Page
      title="Proxies"
      lead="An account that is bound to a proxy reaches the provider through it. Bind one on the Accounts page."
      actions={add}
    >
      <Problem error={error} retry={reload} />
      {data !== null && (
        <Panel>
          {data.length === 0 ? (
            <Empty icon="proxies" title="No proxies" action={add}>
              All accounts reach the provider directly, which is fine for most.
            </Empty>
          ) : (
            <div class="table-box">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Address</th>
                    <th scope="col">Credentials</th>
                    <th scope="col">Test</th>
                    <th scope="col">
                      <span class="hidden-text">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((proxy) => (
                    <tr key={proxy.id}>
                      <td>
                        <strong>{proxy.name || proxy.id}</strong>
                      </td>
                      <td class="mono">
                        {proxy.type}://{proxy.host}:{proxy.port}
                      </td>
                      <td class="muted">
                        {proxy.username || "none"}
                        {proxy.has_password && ", with password"}
                      </td>
                      <td>
                        <ProxyOutcome test={tests.get(proxy.id)} />
                      </td>
                      <td>
                        <div class="actions">
                          <Button busy={tests.get(proxy.id) === "running"} onClick={() => test(proxy.id)}>
                            Test
                          </Button>
                          <Button kind="quiet" onClick={() => setDoing({ what: "edit", proxy })}>
                            Edit
                          </Button>
                          <Button kind="quiet" onClick={() => setDoing({ what: "delete", proxy })}>
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
        <ProxyForm proxy={doing.what === "edit" ? doing.proxy : null} onClose={close} onSaved={changed} />
      )}
      {doing.what === "delete" && (
        <Confirm
          title="Delete this proxy?"
          action="Delete proxy"
          onClose={close}
          run={async () => {
            await deleteProxy(doing.proxy.id);
            await changed("Proxy deleted");
          }}
        >
          <p>Accounts that are bound to it reach the provider directly from now on.</p>
        </Confirm>
      )}
    </Page>
  );
}
