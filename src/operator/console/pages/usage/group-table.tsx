import type { Dimension, UsageItem } from "../../api/usage.ts";
import { formatHref, setQuery } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { formatCompact, formatDuration } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { displayName, formatCost, formatShare, formatView, type UsageView } from "./usage-view.ts";

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
      title: words.name,
      cell: (item) => {
        const value = getGroup(item);
        const name = <TruncatedText text={displayName(by, value, names)} />;
        if (value === "" || !IN_HISTORY.has(by)) return <strong>{name}</strong>;
        return (
          <a
            href={formatHref("history", "", new URLSearchParams({ q: value }).toString())}
            title={texts.seeHistory}
          >
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
      title: texts.errors,
      end: true,
      class: "tabular",
      cell: ({ failed, refused, requests }) => formatShare(failed + refused, requests),
    },
    {
      title: words.tokens,
      end: true,
      class: "tabular",
      cell: ({ prompt_tokens, completion_tokens }) =>
        `${formatCompact(prompt_tokens)} → ${formatCompact(completion_tokens)}`,
    },
    {
      title: texts.cached,
      end: true,
      class: "tabular muted",
      cell: ({ cached_tokens, prompt_tokens }) => formatShare(cached_tokens, prompt_tokens),
    },
    { title: texts.cost, end: true, class: "tabular", cell: ({ cost }) => formatCost(cost) },
    {
      title: words.firstToken,
      end: true,
      class: "tabular muted",
      cell: ({ first_token_ms: time }) =>
        time === null ? "–" : `${formatDuration(time.p50)} / ${formatDuration(time.p95)}`,
    },
    {
      title: words.duration,
      end: true,
      class: "tabular muted",
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
    <Panel title={TITLES[by]}>
      <DataTable items={groups.items} keyOf={getGroup} columns={columns} most={100} />
      {groups.truncated && <p class="muted">{texts.onlyGroupsWithMostRequests}</p>}
      <p class="hint">{texts.timesP50P95}</p>
    </Panel>
  );
}
