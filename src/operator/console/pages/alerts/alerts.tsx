import { useState } from "preact/hooks";
import { deleteWebhook, readAlerts, testWebhook, type WebhookView } from "../../api/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { PrivateHostsForm } from "./private-hosts-form.tsx";
import { describeRules } from "./rule-list.ts";
import { RulesForm } from "./rules-form.tsx";
import { texts } from "./texts.ts";
import { FORMATS, WebhookForm } from "./webhook-form.tsx";

/** Refresh interval in milliseconds. */
const REFRESH_MS = 10_000;

/** Page for alerts: webhooks, rules, active alerts and deliveries. */
export function Alerts() {
  const { data, error, reload } = useLoaded(readAlerts, "", REFRESH_MS);
  const editing = useEditing<WebhookView>(reload);
  const [secret, setSecret] = useState("");
  const [testing, setTesting] = useState("");
  const webhooks = data?.webhooks ?? [];
  const test = async ({ id }: WebhookView) => {
    setTesting(id);
    const result = await testWebhook(id).then(
      ({ success, message }) => (success ? texts.testDelivered : texts.testNotDelivered(message)),
      (failure: unknown) => (failure instanceof Error ? failure.message : texts.testFailed),
    );
    setTesting("");
    showToast(result);
    await reload();
  };
  const add = <AddButton noun={texts.webhookNoun} onClick={editing.add} />;
  const columns: Column<WebhookView>[] = [
    {
      title: words.name,
      cell: ({ name, id, rules }) => (
        <>
          <strong>
            <TruncatedText text={name || id} />
          </strong>
          {rules !== undefined && <div class="muted">{texts.onlyRules(describeRules({ rules }))}</div>}
        </>
      ),
    },
    { title: words.address, class: "mono", cell: ({ url }) => <TruncatedText text={url} /> },
    {
      title: texts.format,
      class: "muted",
      cell: ({ format, disabled }) => (
        <>
          {FORMATS.find(([value]) => value === format)?.[1] ?? format}
          {disabled && texts.disabledNote}
        </>
      ),
    },
    actionColumn((webhook) => (
      <>
        <Button needs="operator" busy={testing === webhook.id} onClick={() => test(webhook)}>
          {words.test}
        </Button>
        <EditButtons editing={editing} item={webhook} />
      </>
    )),
  ];
  return (
    <Page title={texts.alerts} lead={texts.lead} actions={add}>
      <LoadState {...{ data, error, reload }} />
      {data !== null && (
        <>
          {data.firing.length > 0 && (
            <Panel title={texts.activeAlerts}>
              <ul class="bare stack">
                {data.firing.map(({ kind, message, since }) => (
                  <li key={`${kind} ${message}`}>
                    <Badge tone="bad">{texts.firing}</Badge> {message}{" "}
                    <span class="muted">{texts.since}</span> <Timestamp at={since} />
                  </li>
                ))}
              </ul>
            </Panel>
          )}
          <Panel title={texts.webhooks}>
            {secret !== "" && (
              <Notice kind="info" action={<CopyButton text={secret} name={texts.copySecret} />}>
                {texts.newSecret(<code>{secret}</code>)}
              </Notice>
            )}
            <PagedTable
              rows={5}
              items={webhooks}
              keyOf={({ id }) => id}
              columns={columns}
              empty={
                <Empty icon="alerts" title={texts.noWebhooksYet} action={add}>
                  {texts.noWebhooksHint}
                </Empty>
              }
            />
          </Panel>
          <PrivateHostsForm hosts={data.private_hosts} onSaved={reload} />
          <RulesForm rules={data.rules} onSaved={reload} />
          <DeliveryList deliveries={data.deliveries} webhooks={webhooks} />
        </>
      )}
      <EditDialogs
        editing={editing}
        noun={texts.webhookNoun}
        form={(webhook, props) => (
          <WebhookForm
            webhook={webhook}
            webhooks={webhooks}
            privateHosts={data?.private_hosts ?? []}
            onSecret={setSecret}
            {...props}
          />
        )}
        remove={({ id }) => deleteWebhook(webhooks.filter((webhook) => webhook.id !== id))}
        warning={() => texts.deletionWarning}
      />
    </Page>
  );
}
