import type { DeliveryView, WebhookView } from "../../api/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Panel } from "../../ui/page.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";

interface DeliveryListProps {
  readonly deliveries: readonly DeliveryView[];
  readonly webhooks: readonly WebhookView[];
}

/** Recent deliveries of alerts, with their results. */
export function DeliveryList({ deliveries, webhooks }: DeliveryListProps) {
  const getWebhookName = (id: string) => webhooks.find((webhook) => webhook.id === id)?.name || id;
  const columns: Column<DeliveryView>[] = [
    { title: "Time", cell: ({ at }) => <Timestamp at={at} /> },
    { title: "Webhook", cell: ({ webhook }) => <TruncatedText text={getWebhookName(webhook)} /> },
    { title: "Message", cell: ({ message }) => <TruncatedText text={message} /> },
    {
      title: "State",
      cell: ({ error, pending }) =>
        pending ? (
          <Badge tone="warn" {...(error !== "" && { title: error })}>
            {error === "" ? "pending" : "retrying"}
          </Badge>
        ) : (
          <Badge tone={error === "" ? "good" : "bad"} {...(error !== "" && { title: error })}>
            {error === "" ? "delivered" : "failed"}
          </Badge>
        ),
    },
  ];
  if (deliveries.length === 0) return null;
  return (
    <Panel title="Recent deliveries">
      <DataTable
        items={deliveries}
        keyOf={({ at, webhook, message }) => `${at} ${webhook} ${message}`}
        columns={columns}
        empty={null}
      />
    </Panel>
  );
}
