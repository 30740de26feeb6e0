import type { Caller } from "../../core/auth/callers.ts";
import type { Config } from "../../core/config/schema.ts";
import type { Context, LogFields } from "../../core/ports/context.ts";
import type { KeyLimits, LimitedUse, RequestQuota, SpentAmounts } from "../../core/ports/key-limits.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { findRequestCost } from "../../records/usage/prices.ts";
import { createLimitError } from "./limit-error.ts";

const NANO = 1e9;

/** The expected use of a request, in tokens. */
export interface ExpectedTokens {
  readonly prompt: number;
  readonly answer: number;
}

/** Maximum reserved for an answer: few answers are longer, and the real use is settled at the end. */
export const MAX_RESERVED_ANSWER = 512;

const NOTHING: ExpectedTokens = { prompt: 0, answer: 0 };

const limitsByConfig = new WeakMap<object, KeyLimits | null>();

/** The limits of a key that must be counted; null: it has none. */
export function countedLimits(caller: Pick<Caller, "key">): KeyLimits | null {
  const limits = caller.key?.entry.limits;
  if (limits === undefined) return null;
  let counted = limitsByConfig.get(limits);
  if (counted === undefined) {
    const { cost_per_day: day = 0, cost_per_month: month = 0 } = limits;
    const allLimits: KeyLimits = {
      requests_per_minute: limits.requests_per_minute ?? 0,
      tokens_per_minute: limits.tokens_per_minute ?? 0,
      max_parallel: limits.max_parallel ?? 0,
      tokens_per_day: limits.tokens_per_day ?? 0,
      tokens_per_month: limits.tokens_per_month ?? 0,
      // A budget below one unit must not become "no limit".
      cost_per_day: day > 0 ? Math.max(1, Math.round(day * NANO)) : 0,
      cost_per_month: month > 0 ? Math.max(1, Math.round(month * NANO)) : 0,
    };
    counted = Object.values(allLimits).some((limit) => limit > 0) ? allLimits : null;
    limitsByConfig.set(limits, counted);
  }
  return counted;
}

/**
 * The use that a request must reserve before it may do anything; undefined: none. All attempts and parts of a request share
 * it, so it counts once.
 *
 * @param expected called only if the key limits tokens or cost, because the estimate takes time
 */
export function getLimitedUse(
  { quota, log }: Pick<Context, "quota" | "log">,
  caller: Pick<Caller, "key">,
  config: Config,
  expected: () => ExpectedTokens = () => NOTHING,
): LimitedUse | undefined {
  if (quota.use !== undefined) return quota.use;
  const limits = countedLimits(caller);
  if (limits === null || caller.key === null) return undefined;
  const { requests_per_minute: _, max_parallel: __, ...usageLimits } = limits;
  const isCounted = Object.values(usageLimits).some((limit) => limit > 0);
  const { prompt, answer } = isCounted ? expected() : NOTHING;
  // A rough estimate must not exclude a key with a small limit of tokens per minute.
  const { tokens_per_minute: perMinute = 0 } = limits;
  const tokens = perMinute > 0 ? Math.max(prompt, Math.min(prompt + answer, perMinute)) : prompt + answer;
  const { model, requestedModel } = log;
  const use = {
    ...(model === undefined ? {} : { model }),
    ...(requestedModel === undefined ? {} : { requestedModel }),
    promptTokens: prompt,
    completionTokens: answer,
  };
  const cost = findRequestCost(config, use) ?? 0;
  quota.use = { id: crypto.randomUUID(), key: caller.key.id, limits, tokens, cost };
  return quota.use;
}

/**
 * Counts a request that needs no account.
 *
 * @throws GatewayError 429 when its key has reached a limit.
 */
export async function countRequest(
  context: Context,
  caller: Caller,
  expected: () => ExpectedTokens,
): Promise<void> {
  const { config } = await context.config();
  const use = getLimitedUse(context, caller, config, expected);
  if (use === undefined) return;
  const { platform, quota } = context;
  const result = await platform.accounts.countRequest(use);
  if (result.limits !== undefined) quota.remaining = result.limits;
  if ("refused" in result && result.limit !== undefined) throw createLimitError(result.limit, platform.now());
}

/**
 * Reports a request's real use to the pool. Null: nothing to report. Never rejects. If the caller disconnects before the
 * provider reports any use, the real use is unknown and the estimate counts.
 */
export function settleUse(
  platform: Pick<Platform, "accounts">,
  { use, mustSettle }: RequestQuota,
  log: LogFields,
  config: Config,
): Promise<void> | null {
  if (use === undefined || mustSettle !== true) return null;
  const isUnknown = log.account !== undefined && log.promptTokens === undefined;
  const { tokens, cost } = use;
  const used = isUnknown && log.error === "request_cancelled" ? { tokens, cost } : measureSpent(log, config);
  return platform.accounts.settleUsage(use, used).catch(() => undefined);
}

function measureSpent(log: LogFields, config: Config): SpentAmounts {
  const { promptTokens: prompt = 0, completionTokens: completion = 0 } = log;
  return { tokens: prompt + completion, cost: findRequestCost(config, log) ?? 0 };
}
