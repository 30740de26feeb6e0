import type { UsageTotals } from "../../api/usage.ts";
import { compact, count, duration } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { money, share } from "./view.ts";

/** Tiles with the total usage. */
export function UsageTiles({ totals }: { readonly totals: UsageTotals }) {
  const { requests, succeeded, failed, cancelled, refused, first_token_ms, duration_ms } = totals;
  return (
    <dl class="tiles">
      <Tile name="Requests" value={compact(requests)} below={`${count(succeeded)} succeeded`} />
      <Tile
        name="Errors"
        value={share(failed + refused, requests)}
        below={`${compact(failed)} failed, ${compact(refused)} refused, ${compact(cancelled)} cancelled`}
      />
      <Tile
        name="Tokens in"
        value={compact(totals.prompt_tokens)}
        below={`${share(totals.cached_tokens, totals.prompt_tokens)} cached`}
      />
      <Tile
        name="Tokens out"
        value={compact(totals.completion_tokens)}
        below={`${share(totals.reasoning_tokens, totals.completion_tokens)} reasoning`}
      />
      <Tile name="Cost" value={money(totals.cost)} below="at the prices below" />
      <Tile
        name="Time to first token"
        value={first_token_ms === null ? "–" : duration(first_token_ms.p50)}
        below={first_token_ms === null ? "" : `95 of 100 below ${duration(first_token_ms.p95)}`}
      />
      <Tile
        name="Duration"
        value={duration_ms === null ? "–" : duration(duration_ms.p50)}
        below={duration_ms === null ? "" : `95 of 100 below ${duration(duration_ms.p95)}`}
      />
    </dl>
  );
}
