import { useMemo } from "preact/hooks";
import type { HistorySummary } from "../../api/history.ts";
import { formatHref, navigateTo } from "../../routing.ts";
import { type AccountNames, useAccountNames } from "../../shared/account-names.ts";
import { formatCompact, formatCost, formatDuration } from "../../ui/format.ts";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { describeAccount, findShownAccount } from "./describe-account.ts";
import { describeAnswer } from "./describe-answer.ts";
import { accountFilter, FilterLink, filterValue, WorkLink } from "./filter-link.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { texts } from "./texts.ts";

const columns = (query: string, names: AccountNames): readonly Column<HistorySummary>[] => [
  { title: words.time, class: "tabular", cell: ({ created_at }) => <Timestamp at={created_at} /> },
  {
    title: texts.status,
    cell: ({ status, status_code, error, error_code = "", refusals = 0 }) => (
      <>
        <FilterLink
          name={status === "error" ? "code" : "status"}
          value={status === "error" ? String(status_code) : status}
          query={query}
        >
          <StatusBadge status={status} code={status_code} error={error} />
        </FilterLink>
        {status === "error" && error_code !== "" && (
          <FilterLink name="code" value={error_code} query={query}>
            {error_code.replaceAll("_", " ")}
          </FilterLink>
        )}
        {refusals > 1 && <span class="muted">{texts.refusedTimes(refusals)}</span>}
      </>
    ),
  },
  {
    title: texts.requestAndAnswer,
    class: "history-preview",
    cell: (record) => (
      <>
        <a class="cut" href={formatHref("history", record.id, query)}>
          {record.request_preview || (record.refusals === undefined ? texts.noText : texts.refusedRequest)}
        </a>
        <span class="muted cut">{record.error || describeAnswer(record) || "…"}</span>
      </>
    ),
  },
  {
    title: words.key,
    cell: ({ key, key_name, team = "", team_name, end_user: endUser = "" }) => (
      <>
        <FilterLink name="key" value={filterValue(key, key_name)} query={query}>
          {key_name || key || words.noKey}
        </FilterLink>
        {team !== "" && (
          <FilterLink name="team" value={filterValue(team, team_name)} query={query}>
            {texts.inTeam(team_name || team)}
          </FilterLink>
        )}
        {endUser !== "" && (
          <FilterLink name="q" value={endUser} query={query}>
            <bdi>{endUser}</bdi>
          </FilterLink>
        )}
      </>
    ),
  },
  {
    title: words.model,
    cell: ({ model, requested_model, dialect, operation, source, path }) => (
      <>
        {/* A refused request was served by no model. */}
        <FilterLink name="model" value={model || requested_model} query={query} />
        {requested_model !== model && requested_model !== "" && model !== "" && (
          <FilterLink name="model" value={requested_model} query={query}>
            <TruncatedText text={texts.requestedName(requested_model)} />
          </FilterLink>
        )}
        <WorkLink dialect={dialect} operation={operation} query={query} />
        <div class="row">
          {path !== undefined && (
            <FilterLink name="path" value={path} query={query}>
              {texts.paths[path]}
            </FilterLink>
          )}
          {source !== "" && <FilterLink name="source" value={source} query={query} />}
        </div>
      </>
    ),
  },
  {
    title: words.account,
    class: "muted",
    cell: (record) => (
      <>
        <FilterLink name="account" value={accountFilter(findShownAccount(record), names)} query={query}>
          <TruncatedText text={describeAccount(record, names)} />
        </FilterLink>
        {record.tried.length > 1 && <div>{texts.failedAccounts(record.tried.length)}</div>}
        {record.provider !== "" && <FilterLink name="provider" value={record.provider} query={query} />}
      </>
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

/** Table of generations. A click on a row opens its record; the preview links to it. */
export function HistoryTable({ items, query }: HistoryTableProps) {
  const names = useAccountNames();
  const tableColumns = useMemo(() => columns(query, names), [query, names]);
  return (
    <DataTable
      items={items}
      keyOf={({ id }) => id}
      columns={tableColumns}
      steady
      class="history-table"
      box="panel"
      onOpen={({ id }) => navigateTo("history", id, query)}
    />
  );
}
