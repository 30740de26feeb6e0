import type { UsageTotals } from "../../api/usage.ts";
import { formatCount } from "../../ui/count.ts";
import { formatCompact, formatCost, formatDuration, formatShare, formatTime } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { formatChange, type Period } from "./usage-view.ts";

interface UsageTilesProps {
  readonly totals: UsageTotals;
  /** Of the period before. */
  readonly totalsBefore: UsageTotals;
  readonly before: Period;
}

/** What a tile shows of some totals. `amount` is what changes are computed from. */
interface TileFacts {
  readonly name: string;
  readonly amount: (totals: UsageTotals) => number;
  readonly format: (amount: number) => string;
  readonly below: string;
}

const sumErrors = ({ failed, refused }: UsageTotals): number => failed + refused;
const sumCacheWrites = ({ cache_write_5m_tokens, cache_write_1h_tokens }: UsageTotals): number =>
  cache_write_5m_tokens + cache_write_1h_tokens;
const formatTime50 = (ms: number): string => (ms === 0 ? "–" : formatDuration(ms));
const formatTail = (times: UsageTotals["duration_ms"]): string =>
  times === null ? "" : `p95 ${formatDuration(times.p95)}`;

function listTiles(totals: UsageTotals): readonly TileFacts[] {
  const { requests, succeeded, failed, cancelled, refused } = totals;
  return [
    {
      name: words.requests,
      amount: ({ requests }) => requests,
      format: formatCompact,
      below: texts.succeeded(formatCount(succeeded)),
    },
    {
      name: texts.errors,
      amount: (some) => (some.requests === 0 ? 0 : sumErrors(some) / some.requests),
      format: (share) => formatShare(share, 1),
      below: texts.failedRefusedCancelled(
        formatCompact(failed),
        formatCompact(refused),
        formatCompact(cancelled),
      ),
    },
    {
      name: texts.tokensIn,
      amount: ({ prompt_tokens }) => prompt_tokens,
      format: formatCompact,
      below: texts.cachedTokens(formatShare(totals.cached_tokens, totals.prompt_tokens)),
    },
    {
      name: texts.cacheWrites,
      amount: sumCacheWrites,
      format: formatCompact,
      below: texts.forHour(formatCompact(totals.cache_write_1h_tokens)),
    },
    {
      name: texts.tokensOut,
      amount: ({ completion_tokens }) => completion_tokens,
      format: formatCompact,
      below: texts.reasoning(formatShare(totals.reasoning_tokens, totals.completion_tokens)),
    },
    { name: texts.cost, amount: ({ cost }) => cost, format: formatCost, below: texts.atPricesBelow },
    {
      name: texts.timeToFirstToken,
      amount: ({ first_token_ms }) => first_token_ms?.p50 ?? 0,
      format: formatTime50,
      below: formatTail(totals.first_token_ms),
    },
    {
      name: words.duration,
      amount: ({ duration_ms }) => duration_ms?.p50 ?? 0,
      format: formatTime50,
      below: requests === 0 ? "" : formatTail(totals.duration_ms),
    },
  ];
}

/** Tiles with the total usage, and how much each number has changed since the period before. */
export function UsageTiles({ totals, totalsBefore, before }: UsageTilesProps) {
  return (
    <>
      <dl class="tiles even-four">
        {listTiles(totals).map(({ name, amount, format, below }) => {
          const amountBefore = amount(totalsBefore);
          const change = formatChange(amount(totals), amountBefore);
          return (
            <Tile
              key={name}
              name={name}
              value={format(amount(totals))}
              below={below}
              more={change === "" ? texts.nothingBefore : texts.before(change, format(amountBefore))}
            />
          );
        })}
      </dl>
      <p class="hint">{texts.comparedWith(formatTime(before.from), formatTime(before.to))}</p>
    </>
  );
}
