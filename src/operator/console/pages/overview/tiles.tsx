import type { Activity } from "../../api/activity.ts";
import type { ProviderView } from "../../api/providers.ts";
import type { QueueStatus } from "../../api/queue.ts";
import { formatHref } from "../../routing.ts";
import { findOutages, findTroubles } from "../../shared/provider-outages.ts";
import { formatCount } from "../../ui/count.ts";
import { formatCompact, formatCost, formatDuration, formatShare } from "../../ui/format.ts";
import { Tile } from "../../ui/tile.tsx";
import { words } from "../../ui/words.ts";
import { historyLink } from "./history-link.ts";
import { thresholdTone } from "./series.ts";
import { hasUnlimitedAccounts } from "./slots.tsx";
import { texts } from "./texts.ts";

interface TilesProps {
  readonly providers: readonly ProviderView[] | null;
  readonly queue: QueueStatus | null;
  readonly activity: Activity | null;
}

/** Rates of failed requests: 1 % needs attention, 10 % needs an operator. */
const FAILURES = [0.01, 0.1] as const;
/** Rate of refused requests that needs attention: the gateway works, but its callers are refused. */
const REFUSALS = 0.1;
/** Milliseconds until the first token (95th percentile). */
const FIRST_TOKEN_MS = [10_000, 30_000] as const;
/** Fill level of the queue. */
const QUEUE = [0.000_001, 0.8] as const;
/** Share of occupied slots. */
const SLOTS = [0.9, 1] as const;

const ratio = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

type Percentiles = Activity["totals"]["duration_ms"];

const formatTail = (times: Percentiles): string =>
  times === null ? "" : `p95 ${formatDuration(times.p95)}, p99 ${formatDuration(times.p99)}`;
const formatMedian = (times: Percentiles): string => (times === null ? "–" : formatDuration(times.p50));

/** Tiles with the current state, and with totals of the selected time range. */
export function Tiles({ providers, queue, activity }: TilesProps) {
  return (
    <dl class="tiles even">
      {providers !== null && queue !== null && <Providers providers={providers} queue={queue} />}
      {queue !== null && <Present queue={queue} />}
      {activity !== null && <Past activity={activity} />}
    </dl>
  );
}

function Providers({ providers, queue }: Required<Pick<TilesProps, "providers" | "queue">>) {
  const enabled = (providers ?? []).filter((provider) => provider.enabled);
  const outages = findOutages(queue);
  const troubles = findTroubles(queue);
  const troubled = enabled.filter(({ id }) => outages.has(id) || troubles.has(id)).length;
  const isDown = ({ id }: ProviderView) =>
    outages.get(id)?.models.length === 0 || troubles.get(id)?.health === "down";
  return (
    <Tile
      name={texts.healthyProviders}
      value={`${formatCount(enabled.length - troubled)} / ${formatCount(enabled.length)}`}
      below={texts.withTrouble(formatCount(troubled))}
      tone={troubled === 0 ? undefined : enabled.every(isDown) ? "bad" : "warn"}
      href={formatHref("providers")}
    />
  );
}

function Present({ queue }: { readonly queue: QueueStatus }) {
  const { in_use, global_max_inflight, waiting, max_queue_size, ready, total } = queue;
  return (
    <>
      <Tile
        name={texts.slotsInUse}
        value={`${formatCount(in_use)} / ${formatCount(global_max_inflight)}`}
        below={
          hasUnlimitedAccounts(queue)
            ? `${texts.accountsFree(formatCount(ready), formatCount(total))}, ${texts.someUnlimited}`
            : texts.accountsFree(formatCount(ready), formatCount(total))
        }
        tone={thresholdTone(ratio(in_use, global_max_inflight), ...SLOTS)}
      />
      <Tile
        name={texts.waitingTitle}
        value={formatCount(waiting)}
        below={texts.roomFor(formatCount(max_queue_size))}
        tone={thresholdTone(ratio(waiting, max_queue_size), ...QUEUE)}
      />
    </>
  );
}

function Past({ activity }: { readonly activity: Activity }) {
  const { totals, from, to, now } = activity;
  const { requests, failed, refused, cancelled, first_token_ms: firstToken, duration_ms: duration } = totals;
  const errors = failed + refused;
  const minutes = Math.max(1, (now - from) / 60_000);
  const maxDuration = duration?.p99 ?? 0;
  return (
    <>
      <Tile
        name={words.requests}
        value={formatCompact(requests)}
        below={texts.perMinuteCancelled(
          formatCompact(Number((requests / minutes).toPrecision(2))),
          formatCompact(cancelled),
        )}
        href={historyLink(from, to, maxDuration)}
      />
      <Tile
        name={texts.errorsTitle}
        value={formatShare(errors, requests)}
        below={texts.failedRefused(formatCompact(failed), formatCompact(refused))}
        tone={
          thresholdTone(ratio(failed, requests), ...FAILURES) ??
          (ratio(refused, requests) >= REFUSALS ? "warn" : undefined)
        }
        href={historyLink(from, to, maxDuration, { status: "error" })}
      />
      <Tile
        name={words.firstToken}
        value={formatMedian(firstToken)}
        below={formatTail(firstToken)}
        more={texts.streamsOnly}
        tone={thresholdTone(firstToken?.p95 ?? 0, ...FIRST_TOKEN_MS)}
      />
      <Tile
        name={words.duration}
        value={formatMedian(duration)}
        below={formatTail(duration)}
        {...(duration !== null && {
          href: historyLink(from, to, maxDuration, { min_ms: String(duration.p95) }),
        })}
      />
      <Tile
        name={words.tokens}
        value={formatCompact(totals.prompt_tokens + totals.completion_tokens)}
        below={texts.inOut(formatCompact(totals.prompt_tokens), formatCompact(totals.completion_tokens))}
      />
      <Tile
        name={texts.promptCacheHitRate}
        value={formatShare(totals.cached_tokens, totals.prompt_tokens)}
        below={texts.cachedTokenShare(
          formatCompact(totals.cached_tokens),
          formatCompact(totals.prompt_tokens),
        )}
      />
      <Tile name={texts.costTitle} value={formatCost(totals.cost)} below={texts.atYourPrices} />
    </>
  );
}
