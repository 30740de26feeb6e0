import { readTelemetry, type TelemetryStatus } from "../../api/telemetry.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatCount } from "../../ui/count.ts";
import { Problem } from "../../ui/loading/problem.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** How often the status is read again, in milliseconds. */
const REFRESH_MS = 15_000;

interface Signal {
  readonly name: string;
  readonly status: TelemetryStatus["traces"];
}

const COLUMNS: readonly Column<Signal>[] = [
  { title: words.name, cell: ({ name }) => <strong>{name}</strong> },
  {
    title: texts.collector,
    class: "mono",
    cell: ({ status }) => <TruncatedText text={status?.endpoint ?? texts.notSent} />,
  },
  { title: texts.sent, class: "tabular", cell: ({ status }) => formatCount(status?.sent ?? 0) },
  { title: texts.dropped, class: "tabular", cell: ({ status }) => formatCount(status?.dropped ?? 0) },
  { title: texts.lastDelivery, cell: ({ status }) => <Timestamp at={status?.last_sent_at ?? 0} /> },
  {
    title: words.state,
    cell: ({ status }) => {
      if (status === null) return <Badge tone="neutral">{texts.notSent}</Badge>;
      if (status.last_error === null) return <Badge tone="good">{texts.delivering}</Badge>;
      return (
        <>
          <Badge tone="bad">{words.failed}</Badge>
          <div class="muted">
            <TruncatedText text={status.last_error} />
          </div>
        </>
      );
    },
  },
];

/** Whether traces and metrics are sent to an OpenTelemetry collector, and when they were last delivered. */
export function TelemetryPanel() {
  const { data, error, reload } = useLoaded(readTelemetry, "", REFRESH_MS);
  return (
    <Panel title={texts.telemetry} folds>
      <Problem error={error} retry={reload} />
      {data !== null && data.protocol === null && <p class="muted">{texts.telemetryOff}</p>}
      {data !== null && data.protocol !== null && (
        <>
          <p class="muted">{texts.telemetryOn(data.protocol)}</p>
          <DataTable
            items={[
              { name: texts.traces, status: data.traces },
              { name: texts.metrics, status: data.metrics },
            ]}
            keyOf={({ name }) => name}
            columns={COLUMNS}
          />
        </>
      )}
    </Panel>
  );
}
