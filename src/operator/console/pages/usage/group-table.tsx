import type { Dimension, UsageItem } from "../../api/usage.ts";
import { formatHref, setQuery } from "../../routing.ts";
import { displayName, type UsageNames } from "../../shared/usage-names.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { formatCompact, formatCostOf, formatDuration, formatShare } from "../../ui/format.ts";
import { type Choice, SelectField } from "../../ui/forms/field.tsx";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { formatChange, formatView, SORTS, sortGroups, type UsageView } from "./usage-view.ts";

const TITLES: Readonly<Record<Dimension, string>> = {
  key: texts.byKey,
  team: texts.byTeam,
  user: texts.byUser,
  tag: texts.byTag,
  model: texts.byModel,
  requested_model: texts.byRequestedModel,
  account: texts.byAccount,
  provider: texts.byProvider,
  dialect: texts.byApiStyle,
  operation: texts.byOperation,
  outcome: texts.byOutcome,
};

const SORT_CHOICES: readonly Choice[] = SORTS.map((name) => [name, texts.sorts[name]]);

/** Filters of the history that find the requests of a group. */
const HISTORY_FILTERS: Readonly<Partial<Record<Dimension, string>>> = {
  key: "key",
  team: "team",
  model: "model",
  requested_model: "model",
  account: "account",
  provider: "provider",
  dialect: "dialect",
};

/** Returns the query of the history for a group; null: the history cannot be filtered by it. */
function toHistoryQuery(by: Dimension, value: string): string | null {
  const filter = HISTORY_FILTERS[by];
  // A comma would separate two values.
  if (value === "" || value.includes(",") || filter === undefined) return null;
  return new URLSearchParams({ [filter]: value }).toString();
}

interface GroupTableProps {
  readonly view: UsageView;
  readonly groups: { readonly items: readonly UsageItem[]; readonly truncated: boolean };
  /** The groups of the period before. */
  readonly before: readonly UsageItem[];
  readonly names: UsageNames;
}

/** Table of usage per group. */
export function GroupTable({ view, groups, before, names }: GroupTableProps) {
  const { by } = view;
  const isNarrow = useIsNarrow();
  const getGroup = (item: UsageItem) => item[by] ?? "";
  const itemsBefore = new Map(before.map((item) => [getGroup(item), item]));
  const totalRequests = groups.items.reduce((sum, { requests }) => sum + requests, 0);
  const columns: Column<UsageItem>[] = [
    {
      title: words.name,
      cell: (item) => {
        const value = getGroup(item);
        const name = <TruncatedText text={displayName(by, value, names)} />;
        const query = toHistoryQuery(by, value);
        if (query === null) return <strong>{name}</strong>;
        return (
          <a href={formatHref("history", "", query)} title={texts.seeHistory}>
            {name}
          </a>
        );
      },
    },
    {
      title: words.requests,
      end: true,
      class: "tabular",
      cell: ({ requests }) => (
        <>
          {formatCount(requests)} <span class="muted">{formatShare(requests, totalRequests)}</span>
        </>
      ),
    },
    {
      title: texts.change,
      end: true,
      class: "tabular muted",
      cell: (item) =>
        formatChange(item.requests, itemsBefore.get(getGroup(item))?.requests ?? 0) || texts.new,
    },
    {
      title: texts.errors,
      end: true,
      class: "tabular",
      cell: ({ failed, refused, requests }) => formatShare(failed + refused, requests),
    },
    {
      title: words.tokens,
      end: true,
      class: "tabular nowrap",
      cell: ({ prompt_tokens, completion_tokens }) =>
        `${formatCompact(prompt_tokens)} → ${formatCompact(completion_tokens)}`,
    },
    {
      title: texts.cached,
      end: true,
      class: "tabular muted",
      cell: ({ cached_tokens, prompt_tokens }) => formatShare(cached_tokens, prompt_tokens),
    },
    {
      title: texts.cost,
      end: true,
      class: "tabular",
      cell: ({ cost, prompt_tokens, completion_tokens }) =>
        formatCostOf(cost, prompt_tokens + completion_tokens),
    },
    {
      title: words.firstToken,
      end: true,
      class: "tabular muted nowrap",
      cell: ({ first_token_ms: time }) =>
        time === null ? "–" : `${formatDuration(time.p50)} / ${formatDuration(time.p95)}`,
    },
    {
      title: words.duration,
      end: true,
      class: "tabular muted nowrap",
      cell: ({ duration_ms: time }) =>
        time === null ? "–" : `${formatDuration(time.p50)} / ${formatDuration(time.p95)}`,
    },
    actionColumn((item) => (
      <Button
        kind="quiet"
        label={texts.only(displayName(by, getGroup(item), names))}
        onClick={() => setQuery(formatView(view, { filters: { [by]: getGroup(item) } }), true)}
      >
        {texts.onlyTitle}
      </Button>
    )),
  ];
  return (
    <Panel
      title={TITLES[by]}
      actions={
        <SelectField
          label={texts.sortedBy}
          value={view.sort}
          choices={SORT_CHOICES}
          onChange={(value) => {
            const sort = SORTS.find((name) => name === value);
            if (sort !== undefined) setQuery(formatView(view, { sort }), true);
          }}
        />
      }
    >
      <PagedTable
        items={sortGroups(groups.items, view.sort)}
        keyOf={getGroup}
        columns={columns}
        class="numbers"
        rows={isNarrow ? 6 : 20}
      />
      {groups.truncated && <p class="muted">{texts.groupsAreCut}</p>}
      <p class="hint">{texts.timesP50P95}</p>
    </Panel>
  );
}
