import type { DeliveryView, WebhookView } from "../../api/alerts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Panel } from "../../ui/page.tsx";
import type { Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface DeliveryListProps {
  readonly deliveries: readonly DeliveryView[];
  readonly webhooks: readonly WebhookView[];
}

/** Recent deliveries of alerts, with their results. */
export function DeliveryList({ deliveries, webhooks }: DeliveryListProps) {
  const getWebhookName = (id: string) => webhooks.find((webhook) => webhook.id === id)?.name || id;
  const columns: Column<DeliveryView>[] = [
    { title: words.time, cell: ({ at }) => <Timestamp at={at} /> },
    { title: texts.webhook, cell: ({ webhook }) => <TruncatedText text={getWebhookName(webhook)} /> },
    { title: words.message, cell: ({ message }) => <TruncatedText text={message} /> },
    {
      title: words.state,
      cell: ({ error, pending }) =>
        pending ? (
          <Badge tone="warn" {...(error !== "" && { title: error })}>
            {error === "" ? texts.pending : texts.retrying}
          </Badge>
        ) : (
          <Badge tone={error === "" ? "good" : "bad"} {...(error !== "" && { title: error })}>
            {error === "" ? texts.delivered : words.failed}
          </Badge>
        ),
    },
  ];
  if (deliveries.length === 0) return null;
  return (
    <Panel title={texts.recentDeliveries}>
      <PagedTable
        rows="few"
        items={deliveries}
        keyOf={({ at, webhook, message }) => `${at} ${webhook} ${message}`}
        columns={columns}
        empty={null}
      />
    </Panel>
  );
}
