import { useMemo } from "preact/hooks";
import type { HistorySummary } from "../../api/history.ts";
import { formatHref } from "../../routing.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { formatCompact, formatDuration } from "../../ui/format.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { words } from "../../ui/words.ts";
import { formatCost } from "../usage/usage-view.ts";
import { describeAccount } from "./describe-account.ts";
import { FilterLink } from "./filter-link.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { texts } from "./texts.ts";

const columns = (query: string): readonly Column<HistorySummary>[] => [
  { title: words.time, class: "tabular", cell: ({ created_at }) => <Timestamp at={created_at} /> },
  {
    title: texts.status,
    cell: ({ status, status_code, error }) => (
      <StatusBadge status={status} code={status_code} error={error} />
    ),
  },
  {
    title: texts.requestAndAnswer,
    class: "history-preview",
    cell: ({ id, request_preview, response_preview, error }) => (
      <>
        <a class="cut" href={formatHref("history", id, query)}>
          {request_preview || texts.noText}
        </a>
        <span class="muted cut">{error || response_preview || "…"}</span>
      </>
    ),
  },
  {
    title: words.key,
    cell: ({ key, key_name }) => (
      <FilterLink name="key" value={key} query={query}>
        {key_name || key || words.none}
      </FilterLink>
    ),
  },
  {
    title: words.model,
    cell: ({ model, dialect, source, path }) => (
      <>
        <FilterLink name="model" value={model} query={query} />
        <span class="muted cut">
          {dialect}
          {path !== undefined && `, ${texts.paths[path]}`}
          {source !== "" && texts.fromSource(source)}
        </span>
      </>
    ),
  },
  {
    title: words.account,
    class: "muted",
    cell: (record) => (
      <FilterLink name="account" value={record.account} query={query}>
        {describeAccount(record)}
      </FilterLink>
    ),
  },
  {
    title: words.tokens,
    end: true,
    class: "tabular muted",
    cell: ({ prompt_tokens, completion_tokens, cached_tokens }) => (
      <>
        {formatCompact(prompt_tokens)} → {formatCompact(completion_tokens)}
        {cached_tokens > 0 && <div>{texts.cached(formatCompact(cached_tokens))}</div>}
      </>
    ),
  },
  {
    title: texts.cost,
    end: true,
    class: "tabular muted",
    cell: ({ cost }) => (cost === null ? "–" : formatCost(cost)),
  },
  {
    title: words.duration,
    end: true,
    class: "tabular",
    cell: ({ elapsed_ms }) => formatDuration(elapsed_ms),
  },
];

interface HistoryTableProps {
  readonly items: readonly HistorySummary[];
  /** Query of the list. Links to records keep it. */
  readonly query: string;
}

/** Table of generations; the preview links to the record. */
export function HistoryTable({ items, query }: HistoryTableProps) {
  const tableColumns = useMemo(() => columns(query), [query]);
  return (
    <DataTable
      items={items}
      keyOf={({ id }) => id}
      columns={tableColumns}
      steady
      class="history-table"
      box="panel"
    />
  );
}
