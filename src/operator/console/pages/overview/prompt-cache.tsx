import type { UsageItem } from "../../api/usage.ts";
import { formatHref } from "../../routing.ts";
import { displayName, type UsageNames } from "../../shared/usage-names.ts";
import { formatCompact, formatShare, formatTime } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { selectCacheGroups } from "./cache-groups.ts";
import { texts } from "./texts.ts";

/** The dimensions of the tables, with their headings. */
const TABLES = [
  ["provider", texts.provider],
  ["key", words.key],
] as const;
type TableDimension = (typeof TABLES)[number][0];

/** Usage of the selected time range, by provider and by key. */
export interface CacheUsage extends Readonly<Record<TableDimension, readonly UsageItem[]>> {
  /** Unix milliseconds: the beginning of the hour in which the time range begins. */
  readonly from: number;
}

interface PromptCacheProps {
  readonly usage: CacheUsage;
  readonly names: UsageNames;
}

/** Shows how many of the input tokens providers read from their prompt caches, by provider and by key. */
export function PromptCache({ usage, names }: PromptCacheProps) {
  if (TABLES.every(([by]) => selectCacheGroups(usage[by]).length === 0)) return null;
  return (
    <Panel folds title={texts.promptCacheHitRate} actions={<a href={formatHref("usage")}>{words.usage}</a>}>
      <div class="top-lists">
        {TABLES.map(([by, heading]) => (
          <DataTable
            key={by}
            items={selectCacheGroups(usage[by])}
            keyOf={(item) => item[by] ?? ""}
            class="numbers"
            columns={listColumns(by, heading, names)}
          />
        ))}
      </div>
      <p class="hint">{texts.cacheHitRateHint(formatTime(usage.from))}</p>
    </Panel>
  );
}

function listColumns(by: TableDimension, heading: string, names: UsageNames): Column<UsageItem>[] {
  return [
    { title: heading, cell: (item) => <TruncatedText text={displayName(by, item[by] ?? "", names)} /> },
    {
      title: texts.hitRate,
      end: true,
      class: "tabular",
      cell: ({ cached_tokens, prompt_tokens }) => formatShare(cached_tokens, prompt_tokens),
    },
    {
      title: texts.tokensIn,
      end: true,
      class: "tabular muted",
      cell: ({ prompt_tokens }) => formatCompact(prompt_tokens),
    },
    {
      title: texts.read,
      end: true,
      class: "tabular muted",
      cell: ({ cached_tokens }) => formatCompact(cached_tokens),
    },
    {
      title: texts.written,
      end: true,
      class: "tabular muted",
      cell: ({ cache_write_5m_tokens, cache_write_1h_tokens }) =>
        formatCompact(cache_write_5m_tokens + cache_write_1h_tokens),
    },
  ];
}
