import type { Activity } from "../../api/activity.ts";
import { formatCount } from "../../ui/count.ts";
import { formatShare } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import type { Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { words } from "../../ui/words.ts";
import { historyLink } from "./history-link.ts";
import { texts } from "./texts.ts";

type Failure = Activity["errors"][number];

/** Errors in the selected time range, by status and code. Each row links to its records. */
export function ErrorTable({ activity }: { readonly activity: Activity }) {
  const { errors, from, to, totals } = activity;
  const maxDuration = totals.duration_ms?.p99 ?? 0;
  const columns: readonly Column<Failure>[] = [
    {
      title: texts.error,
      cell: ({ status, code }) => (
        <a href={historyLink(from, to, maxDuration, { status: "error", code: code || String(status) })}>
          {status} {code.replaceAll("_", " ")}
        </a>
      ),
    },
    {
      title: texts.when,
      class: "muted",
      cell: ({ outcome }) => (outcome === "refused" ? texts.beforeAccountWasAsked : texts.byProvider),
    },
    { title: words.requests, end: true, class: "tabular", cell: ({ requests }) => formatCount(requests) },
    {
      title: texts.share,
      end: true,
      class: "tabular muted",
      cell: ({ requests }) => formatShare(requests, totals.requests),
    },
  ];
  return (
    <Panel folds title={texts.errorsByCodeAndReason}>
      <PagedTable
        items={errors}
        keyOf={({ outcome, status, code }) => `${outcome} ${status} ${code}`}
        columns={columns}
        empty={<p class="muted">{texts.noneInTime}</p>}
      />
    </Panel>
  );
}
