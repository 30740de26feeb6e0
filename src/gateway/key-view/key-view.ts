import { isModelAllowed } from "../../core/auth/access-rules.ts";
import type { CallerKey, KeySubject } from "../../core/auth/caller-keys.ts";
import { isBudget, LIMIT_KINDS, type LimitName, mapLimits } from "../../core/config/limit-kinds.ts";
import type { ApiKey } from "../../core/config/schemas/key-schema.ts";
import type { Context } from "../../core/ports/context.ts";
import { formatSubject, getUsedAmount, NO_USE } from "../../core/ports/subject-limits.ts";
import type { UsageGroup } from "../../core/ports/usage.ts";
import { CALENDARS, DAYS, MONTHS } from "../../pool/limits/calendar-period.ts";
import { toCountedLimits } from "../../pool/limits/limited-use.ts";
import { clampedSum, fromNano } from "../../records/usage/prices.ts";
import { listAllModels } from "../models/resolve-model.ts";

/** One limit: tokens, requests, or costs in the currency of the prices. */
export interface LimitState {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** RFC 3339; null if the limit has no fixed time at which it resets. */
  readonly resets_at: string | null;
}

/** Usage of a period. */
export interface UsageSumsView {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cost: number;
}

/** The limits of a key, a team or a user. A limit that it does not have is null. */
export type LimitStates = Readonly<Record<LimitName, LimitState | null>>;

/** The team or user of a key. */
export interface GroupView {
  readonly id: string;
  readonly name: string;
  readonly limits: LimitStates;
  readonly models: string[];
}

/** What the holder of a key may know about it. Never the key itself, and nothing of other keys. */
export interface KeyView {
  readonly object: "key";
  readonly id: string;
  readonly name: string;
  readonly expires_at: string | null;
  readonly limits: LimitStates;
  /** The limits that all keys of the team, or of the user, share; null: it has none. */
  readonly team: GroupView | null;
  readonly user: GroupView | null;
  readonly usage: { readonly today: UsageSumsView; readonly this_month: UsageSumsView };
  readonly models: string[];
  readonly styles: string[];
  readonly networks: string[];
  readonly available_models: string[];
}

function getResetTime(name: LimitName, now: number): string | null {
  const kind = LIMIT_KINDS[name];
  if (!isBudget(kind)) return null;
  const calendar = CALENDARS[kind.span];
  return new Date(calendar.startOf(calendar.indexOf(now) + 1)).toISOString();
}

/** The limits of a key, a team or a user with their use. */
async function describeLimits(
  { platform }: Context,
  subject: string,
  limits: ApiKey["limits"],
): Promise<LimitStates> {
  const counted = toCountedLimits(limits);
  const uses = counted === null ? [] : await platform.accounts.listSubjectUsage(subject);
  const use = uses.find((entry) => entry.key === subject) ?? NO_USE;
  const now = platform.now();
  return mapLimits((name) => {
    const limit = counted?.[name] ?? 0;
    if (limit === 0) return null;
    const kind = LIMIT_KINDS[name];
    // Costs are counted in billionths, see `selectCountedLimits`.
    const toUnit = kind.unit === "cost" ? fromNano : (amount: number) => amount;
    const used = getUsedAmount(use, kind);
    return {
      limit: toUnit(limit),
      used: toUnit(used),
      remaining: toUnit(Math.max(0, limit - used)),
      resets_at: getResetTime(name, now),
    };
  });
}

function sumsView(sums: UsageGroup | undefined): UsageSumsView {
  const { prompt_tokens = 0, completion_tokens = 0 } = sums ?? {};
  return {
    requests: clampedSum(sums?.requests ?? 0),
    prompt_tokens: clampedSum(prompt_tokens),
    cached_tokens: clampedSum(sums?.cached_tokens ?? 0),
    completion_tokens: clampedSum(completion_tokens),
    total_tokens: clampedSum(prompt_tokens, completion_tokens),
    cost: fromNano(sums?.cost_nano ?? 0),
  };
}

/** Usage of a key today and this month (UTC), a few seconds old at most. */
async function describeUsage({ platform }: Context, id: string): Promise<KeyView["usage"]> {
  const now = platform.now();
  const day = DAYS.indexOf(now);
  const { groups, totals } = await platform.usage.read({
    from: MONTHS.startOf(MONTHS.indexOf(now)),
    to: DAYS.startOf(day + 1),
    granularity: "day",
    groupBy: [],
    filters: { key: [id] },
    limit: 31,
  });
  const today = groups.find(({ at }) => at === DAYS.startOf(day));
  return { today: sumsView(today), this_month: sumsView(totals) };
}

async function describeGroup(
  context: Context,
  { subjects = [], entry }: CallerKey,
  kind: KeySubject["kind"],
): Promise<GroupView | null> {
  const id = entry[kind] ?? "";
  if (id === "") return null;
  const { name = "", limits, models = [] } = subjects.find((subject) => subject.kind === kind)?.entry ?? {};
  return { id, name, limits: await describeLimits(context, formatSubject(kind, id), limits), models };
}

/** Limits, use and scope of a key. */
export async function describeKey(context: Context, key: CallerKey): Promise<KeyView> {
  const [{ config }, limits, team, user, usage] = await Promise.all([
    context.config(),
    describeLimits(context, formatSubject("key", key.id), key.entry.limits),
    describeGroup(context, key, "team"),
    describeGroup(context, key, "user"),
    describeUsage(context, key.id),
  ]);
  const { name, expires = 0, models = [], dialects = [], networks = [] } = key.entry;
  return {
    object: "key",
    id: key.id,
    name,
    expires_at: expires === 0 ? null : new Date(expires).toISOString(),
    limits,
    team,
    user,
    usage,
    models,
    styles: dialects,
    networks,
    available_models: listAllModels(config)
      .map(({ id }) => id)
      .filter((id) => isModelAllowed({ key }, context.requestLimits, { requested: id, id })),
  };
}
