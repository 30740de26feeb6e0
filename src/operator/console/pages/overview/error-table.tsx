import type { Activity } from "../../api/activity.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { formatCount } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { formatShare } from "../usage/usage-view.ts";
import { historyLink } from "./history-link.ts";

type Failure = Activity["errors"][number];

/** Errors in the selected time range, by status and code. Each row links to its records. */
export function ErrorTable({ activity }: { readonly activity: Activity }) {
  const { errors, from, to, totals } = activity;
  const maxDuration = totals.duration_ms?.p99 ?? 0;
  const columns: readonly Column<Failure>[] = [
    {
      title: "Error",
      cell: ({ status, code }) => (
        <a href={historyLink(from, to, maxDuration, { status: "error", code: String(status) })}>
          {status} {code.replaceAll("_", " ")}
        </a>
      ),
    },
    {
      title: "When",
      class: "muted",
      cell: ({ outcome }) => (outcome === "refused" ? "before an account was asked" : "by the provider"),
    },
    { title: "Requests", end: true, class: "tabular", cell: ({ requests }) => formatCount(requests) },
    {
      title: "Share",
      end: true,
      class: "tabular muted",
      cell: ({ requests }) => formatShare(requests, totals.requests),
    },
  ];
  return (
    <Panel title="Errors by code and reason">
      <DataTable
        items={errors}
        keyOf={({ outcome, status, code }) => `${outcome} ${status} ${code}`}
        columns={columns}
        empty={<p class="muted">None in this time.</p>}
      />
    </Panel>
  );
}
