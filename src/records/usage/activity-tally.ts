import { type ActivityDelta, type EndedRequest, OTHER_VALUES } from "../../core/ports/usage.ts";
import { findBucket } from "./histogram.ts";
import { computeCostNano, findModelPrice, type Pricing } from "./prices.ts";

export const MINUTE_MS = 60_000;
/** A request's time is spread over at most this many minutes before its end. */
const MINUTES_BACK = 60;
/** Limit of models whose tokens are counted separately until they are priced. */
const MAX_MODELS = 200;

interface TokenSum {
  readonly model: string;
  readonly requested: string;
  prompt: number;
  cached: number;
  completion: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Requests of one minute and one outcome, with tokens that have no price yet. */
interface OpenMinute extends Omit<Writable<ActivityDelta>, "first_token" | "duration"> {
  readonly first_token: Record<string, number>;
  readonly duration: Record<string, number>;
  readonly spent: Map<string, TokenSum>;
}

/**
 * An isolate's activity since its last message, per minute. Bounded: the program defines the codes, and the minutes are at
 * most an hour's.
 */
export class ActivityTally {
  #openMinutes = new Map<string, OpenMinute>();

  /** Counts a request that ended at `now` (Unix milliseconds). */
  count(ended: EndedRequest, now: number): void {
    const minute = this.#minute(now, ended);
    minute.requests += 1;
    minute.prompt_tokens += ended.promptTokens;
    minute.completion_tokens += ended.completionTokens;
    observe(minute.duration, ended.durationMs);
    if (ended.firstTokenMs !== undefined) observe(minute.first_token, ended.firstTokenMs);
    addTokens(minute.spent, ended);
    const { account, durationMs, queueMs = 0 } = ended;
    const begun = now - durationMs;
    this.#distribute("waited_ms", begun, Math.min(begun + queueMs, now), ended, now);
    // Pass-through callers take no slot.
    if (account !== "") this.#distribute("busy_ms", begun + queueMs, now, ended, now);
  }

  /** Returns the counts since the last call and resets them. `pricing` prices the tokens. */
  take(pricing: Pricing): ActivityDelta[] {
    const taken = Array.from(this.#openMinutes.values(), ({ spent, ...minute }): ActivityDelta => {
      let cost = 0;
      for (const { model, requested, ...tokens } of spent.values()) {
        cost += computeCostNano(findModelPrice(pricing, model, requested), tokens);
      }
      return { ...minute, cost_nano: cost };
    });
    this.#openMinutes = new Map();
    return taken;
  }

  /** Distributes the time from `from` to `until` over its minutes. */
  #distribute(
    what: "busy_ms" | "waited_ms",
    from: number,
    until: number,
    ended: EndedRequest,
    now: number,
  ): void {
    let at = Math.max(from, now - MINUTES_BACK * MINUTE_MS);
    while (at < until) {
      const end = Math.min(Math.floor(at / MINUTE_MS) * MINUTE_MS + MINUTE_MS, until);
      this.#minute(at, ended)[what] += Math.round(end - at);
      at = end;
    }
  }

  #minute(at: number, { outcome, status, code }: EndedRequest): OpenMinute {
    const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    const id = `${minute}\0${outcome}\0${status}\0${code}`;
    let open = this.#openMinutes.get(id);
    if (open === undefined) {
      open = {
        minute,
        outcome,
        status,
        code,
        requests: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        cost_nano: 0,
        busy_ms: 0,
        waited_ms: 0,
        first_token: {},
        duration: {},
        spent: new Map(),
      };
      this.#openMinutes.set(id, open);
    }
    return open;
  }
}

function observe(buckets: Record<string, number>, milliseconds: number): void {
  const bucket = findBucket(Math.round(milliseconds));
  buckets[bucket] = (buckets[bucket] ?? 0) + 1;
}

function addTokens(spent: Map<string, TokenSum>, ended: EndedRequest): void {
  const { promptTokens: prompt, completionTokens: completion } = ended;
  if (prompt + completion === 0) return;
  const name = `${ended.model}\0${ended.requested_model}`;
  const many = spent.size >= MAX_MODELS && !spent.has(name);
  const id = many ? OTHER_VALUES : name;
  let sum = spent.get(id);
  if (sum === undefined) {
    const requested = many ? OTHER_VALUES : ended.requested_model;
    sum = { model: many ? OTHER_VALUES : ended.model, requested, prompt: 0, cached: 0, completion: 0 };
    spent.set(id, sum);
  }
  sum.prompt += prompt;
  sum.cached += Math.min(prompt, Math.max(0, ended.cachedTokens || 0));
  sum.completion += completion;
}
