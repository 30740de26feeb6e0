import type { HistorySummary } from "../../api/history.ts";
import { href } from "../../routing.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { compact, duration, moment } from "../../ui/format.ts";
import { StatusBadge } from "./status-badge.tsx";

const COLUMNS: readonly Column<HistorySummary>[] = [
  { title: "Time", class: "tabular", cell: ({ created_at }) => moment(created_at) },
  {
    title: "Status",
    cell: ({ status, status_code, error }) => (
      <StatusBadge status={status} code={status_code} error={error} />
    ),
  },
  {
    title: "Asked and answered",
    class: "history-preview",
    cell: ({ id, request_preview, response_preview, error }) => (
      <>
        <a class="cut" href={href("history", id)}>
          {request_preview || "(no text)"}
        </a>
        <span class="muted cut">{error || response_preview || "…"}</span>
      </>
    ),
  },
  {
    title: "Model",
    cell: ({ model, dialect, source }) => (
      <>
        <span class="cut">{model}</span>
        <span class="muted cut">
          {dialect}
          {source !== "" && `, from ${source}`}
        </span>
      </>
    ),
  },
  {
    title: "Account",
    class: "muted",
    cell: ({ account }) => <span class="cut">{account || "pass-through"}</span>,
  },
  {
    title: "Tokens",
    end: true,
    class: "tabular muted",
    cell: ({ prompt_tokens, completion_tokens }) =>
      `${compact(prompt_tokens)} → ${compact(completion_tokens)}`,
  },
  { title: "Took", end: true, class: "tabular", cell: ({ elapsed_ms }) => duration(elapsed_ms) },
];

/** The generations, one a row; its preview leads to the record. */
export function HistoryTable({ items }: { readonly items: readonly HistorySummary[] }) {
  return (
    <DataTable items={items} keyOf={({ id }) => id} columns={COLUMNS} class="history-table" box="panel" />
  );
}
