import type { UsageTotals } from "../../api/usage.ts";
import { formatCompact, formatCount, formatDuration } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { formatCost, formatShare } from "./usage-view.ts";

/** Tiles with the total usage. */
export function UsageTiles({ totals }: { readonly totals: UsageTotals }) {
  const { requests, succeeded, failed, cancelled, refused, first_token_ms, duration_ms } = totals;
  return (
    <dl class="tiles">
      <Tile name="Requests" value={formatCompact(requests)} below={`${formatCount(succeeded)} succeeded`} />
      <Tile
        name="Errors"
        value={formatShare(failed + refused, requests)}
        below={`${formatCompact(failed)} failed, ${formatCompact(refused)} refused, ${formatCompact(cancelled)} cancelled`}
      />
      <Tile
        name="Tokens in"
        value={formatCompact(totals.prompt_tokens)}
        below={`${formatShare(totals.cached_tokens, totals.prompt_tokens)} cached`}
      />
      <Tile
        name="Cache writes"
        value={formatCompact(totals.cache_write_5m_tokens + totals.cache_write_1h_tokens)}
        below={`${formatCompact(totals.cache_write_1h_tokens)} for an hour`}
      />
      <Tile
        name="Tokens out"
        value={formatCompact(totals.completion_tokens)}
        below={`${formatShare(totals.reasoning_tokens, totals.completion_tokens)} reasoning`}
      />
      <Tile name="Cost" value={formatCost(totals.cost)} below="at the prices below" />
      <Tile
        name="Time to first token"
        value={first_token_ms === null ? "–" : formatDuration(first_token_ms.p50)}
        below={first_token_ms === null ? "" : `p95 ${formatDuration(first_token_ms.p95)}`}
      />
      <Tile
        name="Duration"
        value={duration_ms === null ? "–" : formatDuration(duration_ms.p50)}
        below={duration_ms === null ? "" : `p95 ${formatDuration(duration_ms.p95)}`}
      />
    </dl>
  );
}
