import { readUsageDetails, USAGE_DETAILS } from "../../core/conversation/usage-details.ts";
import type { ActivityDelta } from "../../core/ports/activity.ts";
import { OTHER_VALUES, type RequestActivity } from "../../core/ports/usage.ts";
import { MINUTE_MS } from "../../core/units.ts";
import type { Writable } from "../../core/writable.ts";
import { addDuration } from "./histogram.ts";
import type { PricedUsage } from "./priced-usage.ts";
import { computeCostNano, findModelPrice, type Pricing } from "./prices.ts";

/** A request's time is spread over at most this many minutes before its end. */
const MINUTES_BACK = 60;
/** Limit of models whose tokens are counted separately until they are priced. */
const MAX_MODELS = 200;

interface UsageSum {
  readonly model: string;
  readonly requested: string;
  readonly usage: Writable<Required<PricedUsage>>;
}

/** Requests of one minute and one outcome, with tokens that have no price yet. */
interface OpenMinute extends Omit<Writable<ActivityDelta>, "first_token" | "duration"> {
  readonly first_token: Record<string, number>;
  readonly duration: Record<string, number>;
  readonly spent: Map<string, UsageSum>;
}

/**
 * An isolate's activity since its last message, per minute. Bounded: the program defines the codes, and the minutes are at
 * most an hour's.
 */
export class ActivityTally {
  #openMinutes = new Map<string, OpenMinute>();

  /** Counts a request that ended at `now` (Unix milliseconds). Its counts are normalized. */
  count(request: RequestActivity, now: number): void {
    const minute = this.#minute(now, request);
    minute.requests += 1;
    minute.prompt_tokens += request.promptTokens;
    minute.cached_tokens += request.cachedTokens;
    minute.completion_tokens += request.completionTokens;
    addDuration(minute.duration, request.durationMs);
    if (request.firstTokenMs !== undefined) addDuration(minute.first_token, request.firstTokenMs);
    addUsage(minute.spent, request);
    const { account, durationMs, queueMs = 0 } = request;
    const startedAt = now - durationMs;
    this.#distribute("waited_ms", startedAt, Math.min(startedAt + queueMs, now), request, now);
    // Pass-through callers take no slot.
    if (account !== "") this.#distribute("busy_ms", startedAt + queueMs, now, request, now);
  }

  /** Returns the counts since the last call and resets them. `pricing` prices the tokens. */
  take(pricing: Pricing): ActivityDelta[] {
    const deltas = Array.from(this.#openMinutes.values(), ({ spent, ...minute }): ActivityDelta => {
      let cost = 0;
      for (const { model, requested, usage } of spent.values()) {
        cost += computeCostNano(findModelPrice(pricing, model, requested), usage);
      }
      return { ...minute, cost_nano: cost };
    });
    this.#openMinutes = new Map();
    return deltas;
  }

  /** Distributes the time from `from` to `until` over its minutes. */
  #distribute(
    field: "busy_ms" | "waited_ms",
    from: number,
    until: number,
    request: RequestActivity,
    now: number,
  ): void {
    let at = Math.max(from, now - MINUTES_BACK * MINUTE_MS);
    while (at < until) {
      const stepEnd = Math.min(Math.floor(at / MINUTE_MS) * MINUTE_MS + MINUTE_MS, until);
      this.#minute(at, request)[field] += Math.round(stepEnd - at);
      at = stepEnd;
    }
  }

  #minute(at: number, { outcome, status, code }: RequestActivity): OpenMinute {
    const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    const id = `${minute}\0${outcome}\0${status}\0${code}`;
    let openMinute = this.#openMinutes.get(id);
    if (openMinute === undefined) {
      openMinute = {
        minute,
        outcome,
        status,
        code,
        requests: 0,
        prompt_tokens: 0,
        cached_tokens: 0,
        completion_tokens: 0,
        cost_nano: 0,
        busy_ms: 0,
        waited_ms: 0,
        first_token: {},
        duration: {},
        spent: new Map(),
      };
      this.#openMinutes.set(id, openMinute);
    }
    return openMinute;
  }
}

/** The counts that have prices. */
const PRICED = ["promptTokens", "completionTokens", "reasoningTokens", ...USAGE_DETAILS] as const;

function addUsage(spent: Map<string, UsageSum>, request: RequestActivity): void {
  if (PRICED.every((name) => request[name] === 0)) return;
  const name = `${request.model}\0${request.requested_model}`;
  const isFull = spent.size >= MAX_MODELS && !spent.has(name);
  const id = isFull ? OTHER_VALUES : name;
  let sum = spent.get(id);
  if (sum === undefined) {
    const requested = isFull ? OTHER_VALUES : request.requested_model;
    const none = { promptTokens: 0, completionTokens: 0, reasoningTokens: 0, ...readUsageDetails({}) };
    sum = { model: isFull ? OTHER_VALUES : request.model, requested, usage: none };
    spent.set(id, sum);
  }
  for (const count of PRICED) sum.usage[count] += request[count];
}
