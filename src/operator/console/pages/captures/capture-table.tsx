import type { CaptureSummary } from "../../api/captures.ts";
import { formatHref } from "../../routing.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { formatCompact, formatDuration } from "../../ui/format.ts";
import type { Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface CaptureTableProps {
  readonly items: readonly CaptureSummary[];
  /** Saves all rounds of a generation. */
  readonly onKeep: (chainKey: string) => Promise<void>;
}

const isSuccess = ({ status, outcome }: CaptureSummary) =>
  status >= 200 && status < 400 && outcome !== "error";

const COLUMNS: readonly Column<CaptureSummary>[] = [
  { title: words.time, class: "tabular", cell: ({ at }) => <Timestamp at={at} /> },
  {
    title: texts.exchange,
    cell: ({ id, label, method, url }) => (
      <>
        <a href={formatHref("captures", id)}>{label || method}</a> <span class="mono muted">{url}</span>
      </>
    ),
  },
  {
    title: texts.answer,
    cell: (item) => (
      <Badge tone={isSuccess(item) ? "good" : "bad"}>
        {item.status === 0 ? texts.outcomes[item.outcome] : `${item.status} ${texts.outcomes[item.outcome]}`}
      </Badge>
    ),
  },
  {
    title: texts.bytes,
    end: true,
    class: "tabular",
    cell: ({ response_bytes }) => formatCompact(response_bytes),
  },
  { title: texts.took, end: true, class: "tabular", cell: ({ duration_ms }) => formatDuration(duration_ms) },
];

export function CaptureTable({ items, onKeep }: CaptureTableProps) {
  const actions: Column<CaptureSummary> = {
    title: words.actions,
    hidden: true,
    class: "end",
    cell: ({ chain_key: chain, label }) =>
      chain !== "" && (
        <Button
          kind="quiet"
          needs="operator"
          label={texts.keepAsSample(label)}
          onClick={() => void onKeep(chain)}
        >
          {texts.keep}
        </Button>
      ),
  };
  return <PagedTable items={items} keyOf={({ id }) => id} columns={[...COLUMNS, actions]} />;
}
