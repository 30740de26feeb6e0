import {
  PROVIDER_HEALTHS,
  type ProviderHealthView,
  type QueueStatus,
} from "../../core/ports/account-status.ts";
import type { MetricDeltas } from "../../core/ports/archive.ts";
import { type KeyUsage, OTHER_VALUES } from "../../core/ports/usage.ts";
import { NANO } from "../../core/units.ts";
import type { Histogram } from "./counts.ts";
import { formatSeriesName } from "./counts.ts";
import {
  HISTOGRAMS,
  KEY_CACHED_TOKENS,
  KEY_COST,
  KEY_REQUESTS,
  KEY_TOKENS,
  METRICS,
} from "./metric-names.ts";

/** Media type of Prometheus' text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A series name, split into metric name and labels. */
interface SeriesKey {
  readonly name: string;
  readonly labels: string;
}

function parseSeriesKey(text: string): SeriesKey {
  const brace = text.indexOf("{");
  return brace === -1
    ? { name: text, labels: "" }
    : { name: text.slice(0, brace), labels: text.slice(brace + 1, -1) };
}

const BOUND_LABEL = /,?le="([^"]*)"$/;

/** One histogram series: counts by upper bound, not cumulative, and the sum of the observed values. */
interface HistogramCounts {
  readonly buckets: Map<string, number>;
  sum: number;
}

function groupHistogramCounts(
  { name }: Histogram,
  counts: readonly (readonly [SeriesKey, number])[],
): Map<string, HistogramCounts> {
  const groups = new Map<string, HistogramCounts>();
  for (const [key, value] of counts) {
    const labels = key.labels.replace(BOUND_LABEL, "");
    const group: HistogramCounts = groups.get(labels) ?? { buckets: new Map(), sum: 0 };
    groups.set(labels, group);
    if (key.name === `${name}_sum`) group.sum += value;
    else group.buckets.set(BOUND_LABEL.exec(key.labels)?.[1] ?? "+Inf", value);
  }
  return groups;
}

/** Formats a histogram: cumulative buckets, sum and count. */
function histogramLines(histogram: Histogram, counts: readonly (readonly [SeriesKey, number])[]): string[] {
  const { name, bounds } = histogram;
  return [...groupHistogramCounts(histogram, counts)].flatMap(([labels, { buckets, sum }]) => {
    const prefix = labels === "" ? "" : `${labels},`;
    const labelBlock = labels === "" ? "" : `{${labels}}`;
    let total = 0;
    const lines = [...bounds.map(String), "+Inf"].map((bound) => {
      total += buckets.get(bound) ?? 0;
      return `${name}_bucket{${prefix}le="${bound}"} ${total}`;
    });
    return [...lines, `${name}_sum${labelBlock} ${sum}`, `${name}_count${labelBlock} ${total}`];
  });
}

type Gauge = [name: string, help: string, samples: [Record<string, string>, number][]];

/** The number of account pools that the other metrics do not include, in deployments with several. */
function silentPoolGauges({ silent_shards }: QueueStatus): Gauge[] {
  if (silent_shards === undefined) return [];
  const help = "Account pools that have not answered: their accounts are missing from the other numbers.";
  return [["polygate_account_pools_silent", help, [[{}, silent_shards.length]]]];
}

/** The health of each provider, by its id. */
export type ProviderHealths = ReadonlyMap<string, ProviderHealthView["health"]>;

/** A series for each provider and state: 1 for the present one, else 0 (as OpenMetrics' state sets). */
function providerGauge(providers: ProviderHealths): Gauge {
  return [
    "polygate_provider_health",
    "Health of the providers by state: 1 is the present one.",
    [...providers].flatMap(([provider, health]) =>
      PROVIDER_HEALTHS.map((state): [Record<string, string>, number] => [
        { provider, state },
        state === health ? 1 : 0,
      ]),
    ),
  ];
}

/** The current state of the account pool. */
function poolGauges(status: QueueStatus): Gauge[] {
  const cooling = new Map<string, number>();
  for (const { kind } of status.cooldowns) cooling.set(kind, (cooling.get(kind) ?? 0) + 1);
  const leases = new Map<string, number>();
  for (const { account } of status.leases) leases.set(account, (leases.get(account) ?? 0) + 1);
  const inUse = status.leases.length === 0 ? status.in_use : status.leases.length;
  return [
    ["polygate_accounts", "Configured provider accounts.", [[{}, status.total]]],
    ["polygate_accounts_available", "Accounts with a free slot.", [[{}, status.available]]],
    [
      "polygate_accounts_cooling",
      "Accounts that cool down, by reason.",
      [...cooling].map(([kind, n]) => [{ kind }, n]),
    ],
    ["polygate_slots_in_use", "Slots that are held.", [[{}, inUse]]],
    ["polygate_slots_limit", "Slots that may be held at once.", [[{}, status.global_max_inflight]]],
    [
      "polygate_account_slots_in_use",
      "Slots that are held, by account.",
      [...leases].map(([account, n]) => [{ account }, n]),
    ],
    ["polygate_queue_depth", "Requests that wait for an account.", [[{}, status.waiting]]],
    ["polygate_queue_limit", "Requests that may wait.", [[{}, status.max_queue_size]]],
    ...silentPoolGauges(status),
  ];
}

/** Limit of keys with series of their own: the first ones used, so that no series ever ends. */
const MAX_KEYS = 200;
const NO_KEY = "pass-through";

/** The total usage of each key. */
function keyLines(keys: readonly KeyUsage[]): string[] {
  const requests = new Map<string, number>();
  const tokens = new Map<string, number>();
  const cached = new Map<string, number>();
  const costs = new Map<string, number>();
  const add = (counts: Map<string, number>, labels: string, value: number) =>
    counts.set(labels, (counts.get(labels) ?? 0) + value);
  for (const [index, usage] of keys.entries()) {
    const key = index < MAX_KEYS ? usage.key || NO_KEY : OTHER_VALUES;
    add(requests, formatSeriesName(KEY_REQUESTS, { key }), usage.requests);
    add(tokens, formatSeriesName(KEY_TOKENS, { key, gen_ai_token_type: "input" }), usage.prompt_tokens);
    add(tokens, formatSeriesName(KEY_TOKENS, { key, gen_ai_token_type: "output" }), usage.completion_tokens);
    add(cached, formatSeriesName(KEY_CACHED_TOKENS, { key }), usage.cached_tokens);
    add(costs, formatSeriesName(KEY_COST, { key }), usage.cost_nano);
  }
  const lines = (name: string, help: string, counts: Map<string, number>, unit = 1) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} counter`,
    ...Array.from(counts, ([labels, value]) => `${labels} ${value / unit}`),
  ];
  return [
    ...lines(KEY_REQUESTS, "Requests by key.", requests),
    ...lines(KEY_TOKENS, "Tokens by key and kind.", tokens),
    ...lines(KEY_CACHED_TOKENS, "Input tokens by key that providers read from their caches.", cached),
    ...lines(KEY_COST, "Cost by key, in the unit of the configured prices.", costs, NANO),
  ];
}

/** Formats all metrics in Prometheus' text format (version 0.0.4). */
export function formatExposition(
  counts: MetricDeltas,
  status: QueueStatus,
  keys: readonly KeyUsage[],
  providers: ProviderHealths = new Map(),
): string {
  const families = new Map<string, [SeriesKey, number][]>();
  for (const [text, value] of Object.entries(counts)) {
    const key = parseSeriesKey(text);
    const family = key.name.replace(/_(?:bucket|sum)$/, "");
    const existing = families.get(family);
    if (existing === undefined) families.set(family, [[key, value]]);
    else existing.push([key, value]);
  }
  const lines: string[] = [];
  for (const [name, help] of Object.entries(METRICS)) {
    const series = families.get(name) ?? [];
    const histogram = HISTOGRAMS.get(name);
    lines.push(
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${histogram === undefined ? "counter" : "histogram"}`,
    );
    if (histogram !== undefined) lines.push(...histogramLines(histogram, series));
    else
      for (const [key, value] of series)
        lines.push(`${name}${key.labels === "" ? "" : `{${key.labels}}`} ${value}`);
  }
  lines.push(...keyLines(keys));
  for (const [name, help, samples] of [...poolGauges(status), providerGauge(providers)]) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
    for (const [labels, value] of samples) lines.push(`${formatSeriesName(name, labels)} ${value}`);
  }
  return `${lines.join("\n")}\n`;
}
