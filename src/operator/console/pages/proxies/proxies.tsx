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
import { Empty } from "../../ui/empty.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { findProxyCooldowns } from "./cooling-proxies.ts";
import { ProxyCooldown } from "./proxy-cooldown.tsx";
import { ProxyForm } from "./proxy-form.tsx";
import { ProxyOutcome } from "./proxy-outcome.tsx";
import { toProxyTest } from "./proxy-test-result.ts";
import { texts } from "./texts.ts";

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
  const add = <AddButton noun={texts.proxyNoun} onClick={editing.add} />;
  const columns: Column<ProxyView>[] = [
    {
      title: words.name,
      cell: ({ name, id }) => (
        <strong>
          <TruncatedText text={name || id} />
        </strong>
      ),
    },
    {
      title: words.address,
      class: "mono",
      cell: ({ type, host, port }) => <TruncatedText text={`${type}://${host}:${port}`} />,
    },
    {
      title: texts.credentials,
      class: "muted",
      cell: ({ username, has_password }) => (
        <>
          <TruncatedText text={username || texts.noUserName} />
          {has_password && texts.withPassword}
        </>
      ),
    },
    { title: texts.traffic, cell: ({ id }) => <ProxyCooldown cooldown={cooldowns.get(id)} /> },
    { title: words.test, cell: ({ id }) => <ProxyOutcome test={tests.get(id)} /> },
    actionColumn((proxy) => (
      <>
        <Button needs="operator" busy={tests.get(proxy.id) === "running"} onClick={() => test(proxy.id)}>
          {words.test}
        </Button>
        <EditButtons editing={editing} item={proxy} />
      </>
    )),
  ];
  return (
    <Page title={texts.proxies} lead={texts.lead} actions={add}>
      <LoadState {...{ data, error, reload }} />
      {data !== null && (
        <Panel>
          <PagedTable
            items={data}
            keyOf={({ id }) => id}
            columns={columns}
            empty={
              <Empty icon="proxies" title={texts.noProxies} action={add}>
                {texts.noProxiesHint}
              </Empty>
            }
          />
        </Panel>
      )}
      <EditDialogs
        editing={editing}
        noun={texts.proxyNoun}
        form={(proxy, props) => <ProxyForm proxy={proxy} {...props} />}
        read={({ id }) => readProxy(id)}
        remove={({ id }) => deleteProxy(id)}
        warning={() => texts.deletionWarning}
      />
    </Page>
  );
}
