import type { CallerKey } from "../../core/auth/caller-keys.ts";
import type { Caller } from "../../core/auth/callers.ts";
import { LIMIT_KINDS, LIMIT_NAMES, mapLimits } from "../../core/config/limit-kinds.ts";
import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import type { Config } from "../../core/config/schema.ts";
import type { ApiKey } from "../../core/config/schemas/key-schema.ts";
import { oncePer } from "../../core/encoding/once.ts";
import type { Context } from "../../core/ports/context.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { RequestFacts, RequestOutcome } from "../../core/ports/request-outcome.ts";
import {
  formatSubject,
  type LimitedSubject,
  type LimitedUse,
  type RequestLimits,
  type SpentAmounts,
  type SubjectKind,
  type SubjectLimits,
} from "../../core/ports/subject-limits.ts";
import { NANO } from "../../core/units.ts";
import { findRequestCost } from "../../records/usage/prices.ts";
import { createLimitError } from "./limit-error.ts";

/** The expected use of a request, in tokens. */
export interface ExpectedTokens {
  readonly prompt: number;
  readonly answer: number;
}

/** Maximum reserved for an answer: few answers are longer, and the real use is settled at the end. */
export const MAX_RESERVED_ANSWER = 512;

const NOTHING: ExpectedTokens = { prompt: 0, answer: 0 };

/** The limits of a key that must be counted; null: it has none. */
export function selectCountedLimits(caller: Pick<Caller, "key">): SubjectLimits | null {
  return toCountedLimits(caller.key?.entry.limits);
}

/** The limits of a key or another subject that must be counted; null: none. */
export function toCountedLimits(limits: ApiKey["limits"]): SubjectLimits | null {
  return limits === undefined ? null : selectCounted(limits);
}

const selectCounted = oncePer((limits: NonNullable<ApiKey["limits"]>): SubjectLimits | null => {
  const counted = mapLimits((name) => {
    const limit = limits[name] ?? 0;
    // A budget below one billionth must not become "no limit".
    return LIMIT_KINDS[name].unit === "cost" && limit > 0 ? Math.max(1, Math.round(limit * NANO)) : limit;
  });
  return Object.values(counted).some((limit) => limit > 0) ? counted : null;
});

/** The limits of the providers that have any, by id. */
const getProviderLimits = oncePer(
  ({ providers, default_provider }: Config): ReadonlyMap<string, SubjectLimits> =>
    new Map(
      [{ id: DEFAULT_PROVIDER, ...default_provider }, ...providers].flatMap(({ id, limits }) => {
        const counted = toCountedLimits(limits);
        return counted === null ? [] : [[id, counted] as const];
      }),
    ),
);

/**
 * Everything with limits that a request counts for: its key, user, team, tags and provider.
 *
 * @param provider id of the provider, or `DEFAULT_PROVIDER`; undefined: the request uses none
 */
export function listLimitedSubjects(
  key: CallerKey,
  { tagEntries = [] }: RequestLimits,
  config: Config,
  provider?: string,
): LimitedSubject[] {
  const subjects: LimitedSubject[] = [];
  const add = (kind: SubjectKind, id: string, limits: SubjectLimits | null | undefined) => {
    if (limits !== null && limits !== undefined) subjects.push({ key: formatSubject(kind, id), limits });
  };
  add("key", key.id, toCountedLimits(key.entry.limits));
  for (const { kind, entry } of key.subjects ?? []) add(kind, entry.id, toCountedLimits(entry.limits));
  for (const { id, limits } of tagEntries) add("tag", id, toCountedLimits(limits));
  if (provider !== undefined) add("provider", provider, getProviderLimits(config).get(provider));
  return subjects;
}

/** Whether limits count tokens or cost. */
export function countsUsage(limits: SubjectLimits): boolean {
  return LIMIT_NAMES.some((name) => LIMIT_KINDS[name].unit !== "requests" && (limits[name] ?? 0) > 0);
}

/**
 * The use that a request must reserve before it may do anything; undefined: none. All attempts and parts of a request share
 * it, so it counts once.
 *
 * @param expected called only if a limit counts tokens or cost, because the estimate takes time
 * @param provider id of the provider of the attempt, or `DEFAULT_PROVIDER`; undefined: it uses none
 */
export function getLimitedUse(
  { requestLimits, facts }: Pick<Context, "requestLimits" | "facts">,
  caller: Pick<Caller, "key">,
  config: Config,
  expected: () => ExpectedTokens = () => NOTHING,
  provider?: string,
): LimitedUse | undefined {
  if (caller.key === null) return undefined;
  const subjects = listLimitedSubjects(caller.key, requestLimits, config, provider);
  const [first, ...others] = subjects;
  const { use } = requestLimits;
  if (use !== undefined) {
    use.key = first?.key ?? "";
    use.limits = first?.limits ?? {};
    if (others.length > 0 || use.others !== undefined) use.others = others;
    return use;
  }
  if (first === undefined) return undefined;
  // The request may go to another provider later.
  const allLimits = [...subjects.map(({ limits }) => limits), ...getProviderLimits(config).values()];
  const { prompt, answer } = allLimits.some(countsUsage) ? expected() : NOTHING;
  // A rough estimate must not exclude a subject with a small limit of tokens per minute.
  const perMinute = Math.min(
    ...subjects.map(({ limits: { tokens_per_minute: max = 0 } }) =>
      max > 0 ? max : Number.POSITIVE_INFINITY,
    ),
  );
  const tokens = Math.max(prompt, Math.min(prompt + answer, perMinute));
  const { model, requestedModel } = facts;
  const cost = findRequestCost(config, {
    ...(model === undefined ? {} : { model }),
    ...(requestedModel === undefined ? {} : { requestedModel }),
    promptTokens: prompt,
    completionTokens: answer,
  });
  requestLimits.use = {
    id: crypto.randomUUID(),
    key: first.key,
    limits: first.limits,
    ...(others.length === 0 ? {} : { others }),
    tokens,
    cost: cost ?? 0,
  };
  return requestLimits.use;
}

/**
 * Counts a request that needs no account.
 *
 * @throws GatewayError 429 when one of its subjects has reached a limit.
 */
export async function countRequest(
  context: Context,
  caller: Caller,
  expected: () => ExpectedTokens,
): Promise<void> {
  const { config } = await context.config();
  const use = getLimitedUse(context, caller, config, expected);
  if (use === undefined) return;
  const { platform, requestLimits } = context;
  const result = await platform.accounts.countRequest(use);
  if (result.limits !== undefined) requestLimits.remaining = result.limits;
  if ("refused" in result && result.limit !== undefined) throw createLimitError(result.limit, platform.now());
}

/** Errors with which the gateway leaves a provider that may still answer. */
const LEFT_PROVIDER: ReadonlySet<string | undefined> = new Set(["request_cancelled", "request_timeout"]);

/**
 * Reports a request's real use to the pool. Null: nothing to report. Never rejects. If the caller disconnects, or its
 * time is over, before the provider reports any use, the real use is unknown and the estimate counts.
 */
export function settleUse(
  platform: Pick<Platform, "accounts">,
  { use, mustSettle }: RequestLimits,
  { facts }: Pick<RequestOutcome, "facts">,
  config: Config,
): Promise<void> | null {
  if (use === undefined || mustSettle !== true) return null;
  const isUnknown = facts.account !== undefined && facts.promptTokens === undefined;
  const { tokens, cost } = use;
  const used = isUnknown && LEFT_PROVIDER.has(facts.error) ? { tokens, cost } : measureSpent(facts, config);
  return platform.accounts.settleUsage(use, used).catch(() => undefined);
}

function measureSpent(facts: RequestFacts, config: Config): SpentAmounts {
  const { promptTokens: prompt = 0, completionTokens: completion = 0 } = facts;
  return { tokens: prompt + completion, cost: findRequestCost(config, facts) ?? 0 };
}
