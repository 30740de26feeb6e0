import type { Caller } from "../auth/callers.ts";
import type { Config } from "../config/schema.ts";
import type { Context, LogFields } from "../platform/context.ts";
import type { KeyLimits, LimitedUse, Quota, Spent } from "../platform/limits.ts";
import type { Platform } from "../platform/platform.ts";
import { costNano, modelPrice, type PricedTokens } from "../usage/prices.ts";
import { limitExceeded } from "./refusal.ts";

const NANO = 1e9;

/** What a request is expected to use, in tokens. */
export interface Expected {
  readonly prompt: number;
  readonly answer: number;
}

/** More than this is not reserved for an answer: few are longer, and the end tells. */
export const MODEST_ANSWER = 512;

const NOTHING: Expected = { prompt: 0, answer: 0 };

const counted = new WeakMap<object, KeyLimits | null>();

/** The limits of a key that need counting; null: it has none. */
export function countedLimits(caller: Pick<Caller, "key">): KeyLimits | null {
  const limits = caller.key?.entry.limits;
  if (limits === undefined) return null;
  let known = counted.get(limits);
  if (known === undefined) {
    const { cost_per_day: day = 0, cost_per_month: month = 0 } = limits;
    const all: KeyLimits = {
      requests_per_minute: limits.requests_per_minute ?? 0,
      tokens_per_minute: limits.tokens_per_minute ?? 0,
      max_parallel: limits.max_parallel ?? 0,
      tokens_per_day: limits.tokens_per_day ?? 0,
      tokens_per_month: limits.tokens_per_month ?? 0,
      // A budget too small to be counted is a budget all the same.
      cost_per_day: day > 0 ? Math.max(1, Math.round(day * NANO)) : 0,
      cost_per_month: month > 0 ? Math.max(1, Math.round(month * NANO)) : 0,
    };
    known = Object.values(all).some((limit) => limit > 0) ? all : null;
    counted.set(limits, known);
  }
  return known;
}

/**
 * What a request has to have counted before it may do anything; undefined: nothing. The same for all attempts of a request,
 * and all of its parts: it counts once.
 *
 * @param expected asked only if the key counts tokens or their cost: finding out takes time
 */
export function limitedUse(
  { quota, log }: Pick<Context, "quota" | "log">,
  caller: Pick<Caller, "key">,
  config: Config,
  expected: () => Expected = () => NOTHING,
): LimitedUse | undefined {
  if (quota.use !== undefined) return quota.use;
  const limits = countedLimits(caller);
  if (limits === null || caller.key === null) return undefined;
  const { requests_per_minute: _, max_parallel: __, ...ofTokens } = limits;
  const isCounted = Object.values(ofTokens).some((limit) => limit > 0);
  const { prompt, answer } = isCounted ? expected() : NOTHING;
  // Who may use few tokens a minute must not be kept out by what is only a guess.
  const { tokens_per_minute: perMinute = 0 } = limits;
  const tokens = perMinute > 0 ? Math.max(prompt, Math.min(prompt + answer, perMinute)) : prompt + answer;
  const cost = costOf(config, log, { prompt, cached: 0, completion: answer });
  quota.use = { id: crypto.randomUUID(), key: caller.key.id, limits, tokens, cost };
  return quota.use;
}

/**
 * Counts a request that needs no account.
 *
 * @throws GatewayError 429 when its key has used what it may.
 */
export async function countRequest(
  context: Context,
  caller: Caller,
  expected: () => Expected,
): Promise<void> {
  const { config } = await context.config();
  const use = limitedUse(context, caller, config, expected);
  if (use === undefined) return;
  const { platform, quota } = context;
  const answer = await platform.accounts.count(use);
  if (answer.limits !== undefined) quota.left = answer.limits;
  if ("refused" in answer && answer.limit !== undefined) throw limitExceeded(answer.limit, platform.now());
}

/**
 * Tells the pool what a request has used in the end. Null: there is nothing to tell. Never rejects. Of a caller who left before
 * the provider said anything nobody knows what was used: the estimate counts.
 */
export function settleUse(
  platform: Pick<Platform, "accounts">,
  { use, counts }: Quota,
  log: LogFields,
  config: Config,
): Promise<void> | null {
  if (use === undefined || counts !== true) return null;
  const unknown = log.account !== undefined && log.promptTokens === undefined;
  const { tokens, cost } = use;
  const used = unknown && log.error === "request_cancelled" ? { tokens, cost } : spent(log, config);
  return platform.accounts.settle(use, used).catch(() => undefined);
}

function spent(log: LogFields, config: Config): Spent {
  const { promptTokens: prompt = 0, cachedTokens: cached = 0, completionTokens: completion = 0 } = log;
  return { tokens: prompt + completion, cost: costOf(config, log, { prompt, cached, completion }) };
}

function costOf(config: Config, { model = "", requestedModel }: LogFields, tokens: PricedTokens): number {
  return costNano(modelPrice(config, model, requestedModel), tokens);
}
