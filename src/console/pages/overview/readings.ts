import { type Sample, total } from "../../api/metrics.ts";

/** What the gateway had counted since its beginning, at one moment. */
export interface Reading {
  /** Unix milliseconds. */
  readonly at: number;
  readonly inUse: number;
  readonly waiting: number;
  readonly requests: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Seconds until the first token, summed up, and over how many answers. */
  readonly firstTokenSeconds: number;
  readonly firstTokens: number;
}

const REQUESTS = "polygate_generations_total";
const FIRST_TOKEN = "gen_ai_server_time_to_first_token_seconds";
const TOKENS = "gen_ai_client_token_usage";

const failed = ({ status = "" }: Sample["labels"]) => /^[45]|error/.test(status);

/** The counters that the overview draws, out of all metrics. */
export function readingOf(
  samples: readonly Sample[],
  at: number,
  queue: { readonly in_use: number; readonly waiting: number },
): Reading {
  const tokens = (type: string) =>
    total(samples, `${TOKENS}_sum`, (labels) => labels["gen_ai_token_type"] === type);
  return {
    at,
    inUse: queue.in_use,
    waiting: queue.waiting,
    requests: total(samples, REQUESTS),
    errors: total(samples, REQUESTS, failed),
    promptTokens: tokens("input"),
    completionTokens: tokens("output"),
    firstTokenSeconds: total(samples, `${FIRST_TOKEN}_sum`),
    firstTokens: total(samples, `${FIRST_TOKEN}_count`),
  };
}

/** What happened within one span of time. */
export interface Span {
  /** Unix seconds of its end. */
  readonly time: number;
  readonly inUse: number | null;
  readonly waiting: number | null;
  /** A second. */
  readonly requests: number | null;
  readonly errors: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Seconds; null when no answer began. */
  readonly firstToken: number | null;
}

/** A longer silence between two readings is a gap, not a rate. */
const LONGEST_MS = 90_000;

/** Rates between neighbouring readings. A counter that fell was started anew, which makes a gap. */
export function spansOf(readings: readonly Reading[]): Span[] {
  const spans: Span[] = [];
  for (const [index, now] of readings.entries()) {
    const before = readings[index - 1];
    if (before === undefined) continue;
    const elapsed = now.at - before.at;
    const known = elapsed > 0 && elapsed <= LONGEST_MS && now.requests >= before.requests;
    const rate = (count: (reading: Reading) => number) =>
      known ? Math.max(0, ((count(now) - count(before)) * 1_000) / elapsed) : null;
    const begun = now.firstTokens - before.firstTokens;
    spans.push({
      time: now.at / 1_000,
      inUse: known ? now.inUse : null,
      waiting: known ? now.waiting : null,
      requests: rate(({ requests }) => requests),
      errors: rate(({ errors }) => errors),
      promptTokens: rate(({ promptTokens }) => promptTokens),
      completionTokens: rate(({ completionTokens }) => completionTokens),
      firstToken: known && begun > 0 ? (now.firstTokenSeconds - before.firstTokenSeconds) / begun : null,
    });
  }
  return spans;
}

/** Each run of `size` spans as one, for calm lines: rates are averaged over what is known. */
export function smoothed(spans: readonly Span[], size: number): Span[] {
  const smooth: Span[] = [];
  for (let start = 0; start < spans.length; start += size) {
    const group = spans.slice(start, start + size);
    const last = group.at(-1);
    if (last === undefined) break;
    const mean = (value: (span: Span) => number | null): number | null => {
      const known = group.map(value).filter((each) => each !== null);
      return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
    };
    smooth.push({
      time: last.time,
      inUse: mean(({ inUse }) => inUse),
      waiting: mean(({ waiting }) => waiting),
      requests: mean(({ requests }) => requests),
      errors: mean(({ errors }) => errors),
      promptTokens: mean(({ promptTokens }) => promptTokens),
      completionTokens: mean(({ completionTokens }) => completionTokens),
      firstToken: mean(({ firstToken }) => firstToken),
    });
  }
  return smooth;
}
