import { useState } from "preact/hooks";
import {
  deleteProxy,
  listProxies,
  type ProxyTest,
  type ProxyView,
  readProxy,
  testSavedProxy,
} from "../../api/proxies.ts";
import { readQueue } from "../../api/queue.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/editing.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { findProxyCooldowns } from "./cooling-proxies.ts";
import { ProxyCooldown } from "./proxy-cooldown.tsx";
import { ProxyForm } from "./proxy-form.tsx";
import { ProxyOutcome } from "./proxy-outcome.tsx";
import { toProxyTest } from "./proxy-test-result.ts";

/** Refresh interval of cooldowns in milliseconds. */
const REFRESH_MS = 5_000;

/** Page for the outbound proxies of accounts. */
export function Proxies() {
  const { data, error, reload } = useLoaded(listProxies);
  const { data: queue } = useLoaded((signal) => readQueue(null, signal), "", REFRESH_MS);
  const cooldowns = findProxyCooldowns(queue);
  const editing = useEditing<ProxyView>(reload);
  const [tests, setTests] = useState<ReadonlyMap<string, ProxyTest | "running">>(new Map());
  const test = async (id: string) => {
    const setState = (state: ProxyTest | "running") => setTests((before) => new Map(before).set(id, state));
    setState("running");
    setState(await toProxyTest(testSavedProxy(id)));
  };
  const add = <AddButton noun="proxy" onClick={editing.add} />;
  const columns: Column<ProxyView>[] = [
    {
      title: "Name",
      cell: ({ name, id }) => (
        <strong>
          <TruncatedText text={name || id} />
        </strong>
      ),
    },
    {
      title: "Address",
      class: "mono",
      cell: ({ type, host, port }) => <TruncatedText text={`${type}://${host}:${port}`} />,
    },
    {
      title: "Credentials",
      class: "muted",
      cell: ({ username, has_password }) => (
        <>
          <TruncatedText text={username || "none"} />
          {has_password && ", with password"}
        </>
      ),
    },
    { title: "Traffic", cell: ({ id }) => <ProxyCooldown cooldown={cooldowns.get(id)} /> },
    { title: "Test", cell: ({ id }) => <ProxyOutcome test={tests.get(id)} /> },
    actionColumn((proxy) => (
      <>
        <Button busy={tests.get(proxy.id) === "running"} onClick={() => test(proxy.id)}>
          Test
        </Button>
        <EditButtons editing={editing} item={proxy} />
      </>
    )),
  ];
  return (
    <Page
      title="Proxies"
      lead="Accounts can reach their provider through a proxy. Choose the proxy on the Accounts page."
      actions={add}
    >
      <Problem error={error} retry={reload} />
      {data !== null && (
        <Panel>
          <DataTable
            items={data}
            keyOf={({ id }) => id}
            columns={columns}
            empty={
              <Empty icon="proxies" title="No proxies" action={add}>
                All accounts reach their provider directly.
              </Empty>
            }
          />
        </Panel>
      )}
      <EditDialogs
        editing={editing}
        noun="proxy"
        form={(proxy, props) => <ProxyForm proxy={proxy} {...props} />}
        read={({ id }) => readProxy(id)}
        remove={({ id }) => deleteProxy(id)}
        warning={() => "Accounts that are bound to it reach the provider directly from now on."}
      />
    </Page>
  );
}
