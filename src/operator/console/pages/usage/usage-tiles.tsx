import type { UsageTotals } from "../../api/usage.ts";
import { formatCount } from "../../ui/count.ts";
import { formatCompact, formatDuration } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { formatCost, formatShare } from "./usage-view.ts";

/** Tiles with the total usage. */
export function UsageTiles({ totals }: { readonly totals: UsageTotals }) {
  const { requests, succeeded, failed, cancelled, refused, first_token_ms, duration_ms } = totals;
  return (
    <dl class="tiles">
      <Tile
        name={words.requests}
        value={formatCompact(requests)}
        below={texts.succeeded(formatCount(succeeded))}
      />
      <Tile
        name={texts.errors}
        value={formatShare(failed + refused, requests)}
        below={texts.failedRefusedCancelled(
          formatCompact(failed),
          formatCompact(refused),
          formatCompact(cancelled),
        )}
      />
      <Tile
        name={texts.tokensIn}
        value={formatCompact(totals.prompt_tokens)}
        below={texts.cachedCachedTokens(formatShare(totals.cached_tokens, totals.prompt_tokens))}
      />
      <Tile
        name={texts.cacheWrites}
        value={formatCompact(totals.cache_write_5m_tokens + totals.cache_write_1h_tokens)}
        below={texts.forHour(formatCompact(totals.cache_write_1h_tokens))}
      />
      <Tile
        name={texts.tokensOut}
        value={formatCompact(totals.completion_tokens)}
        below={texts.reasoning(formatShare(totals.reasoning_tokens, totals.completion_tokens))}
      />
      <Tile name={texts.cost} value={formatCost(totals.cost)} below={texts.atPricesBelow} />
      <Tile
        name={texts.timeToFirstToken}
        value={first_token_ms === null ? "–" : formatDuration(first_token_ms.p50)}
        below={first_token_ms === null ? "" : `p95 ${formatDuration(first_token_ms.p95)}`}
      />
      <Tile
        name={words.duration}
        value={duration_ms === null ? "–" : formatDuration(duration_ms.p50)}
        below={duration_ms === null ? "" : `p95 ${formatDuration(duration_ms.p95)}`}
      />
    </dl>
  );
}
