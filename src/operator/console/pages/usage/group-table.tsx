import type { Dimension, UsageItem } from "../../api/usage.ts";
import { formatHref, setQuery } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { formatCompact, formatCount, formatDuration } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { displayName, formatCost, formatShare, formatView, type UsageView } from "./usage-view.ts";

const TITLES: Readonly<Record<Dimension, string>> = {
  key: "By key",
  model: "By model",
  requested_model: "By requested model",
  account: "By account",
  provider: "By provider",
  dialect: "By API style",
  operation: "By operation",
  outcome: "By outcome",
};

/** Dimensions that the history records contain, so that the search finds them. */
const IN_HISTORY: ReadonlySet<Dimension> = new Set([
  "key",
  "model",
  "requested_model",
  "account",
  "dialect",
  "outcome",
]);

interface GroupTableProps {
  readonly view: UsageView;
  readonly groups: { readonly items: readonly UsageItem[]; readonly truncated: boolean };
  /** Names of keys by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Table of usage per group, largest first. */
export function GroupTable({ view, groups, names }: GroupTableProps) {
  const { by } = view;
  const getGroup = (item: UsageItem) => item[by] ?? "";
  const totalRequests = groups.items.reduce((sum, { requests }) => sum + requests, 0);
  const columns: Column<UsageItem>[] = [
    {
      title: "Name",
      cell: (item) => {
        const value = getGroup(item);
        const name = <TruncatedText text={displayName(by, value, names)} />;
        if (value === "" || !IN_HISTORY.has(by)) return <strong>{name}</strong>;
        return (
          <a
            href={formatHref("history", "", new URLSearchParams({ q: value }).toString())}
            title="See its history"
          >
            {name}
          </a>
        );
      },
    },
    {
      title: "Requests",
      end: true,
      class: "tabular",
      cell: ({ requests }) => (
        <>
          {formatCount(requests)} <span class="muted">{formatShare(requests, totalRequests)}</span>
        </>
      ),
    },
    {
      title: "Errors",
      end: true,
      class: "tabular",
      cell: ({ failed, refused, requests }) => formatShare(failed + refused, requests),
    },
    {
      title: "Tokens",
      end: true,
      class: "tabular",
      cell: ({ prompt_tokens, completion_tokens }) =>
        `${formatCompact(prompt_tokens)} → ${formatCompact(completion_tokens)}`,
    },
    {
      title: "Cached",
      end: true,
      class: "tabular muted",
      cell: ({ cached_tokens, prompt_tokens }) => formatShare(cached_tokens, prompt_tokens),
    },
    { title: "Cost", end: true, class: "tabular", cell: ({ cost }) => formatCost(cost) },
    {
      title: "First token",
      end: true,
      class: "tabular muted",
      cell: ({ first_token_ms: time }) =>
        time === null ? "–" : `${formatDuration(time.p50)} / ${formatDuration(time.p95)}`,
    },
    {
      title: "Duration",
      end: true,
      class: "tabular muted",
      cell: ({ duration_ms: time }) =>
        time === null ? "–" : `${formatDuration(time.p50)} / ${formatDuration(time.p95)}`,
    },
    actionColumn((item) => (
      <Button
        kind="quiet"
        label={`Only this: ${displayName(by, getGroup(item), names)}`}
        onClick={() => setQuery(formatView(view, { filters: { [by]: getGroup(item) } }), true)}
      >
        Only this
      </Button>
    )),
  ];
  return (
    <Panel title={TITLES[by]}>
      <DataTable items={groups.items} keyOf={getGroup} columns={columns} most={100} />
      {groups.truncated && <p class="muted">Only the groups with the most requests are shown.</p>}
      <p class="hint">Times are p50 / p95.</p>
    </Panel>
  );
}
