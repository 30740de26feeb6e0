/** What a limit counts, and over which time. `parallel`: the requests that run at the same time. */
export type LimitKind =
  | { readonly unit: "requests"; readonly span: "parallel" }
  | { readonly unit: "requests" | "tokens"; readonly span: "minute" }
  | { readonly unit: "tokens" | "cost"; readonly span: "day" | "month" };

/**
 * The limits of keys, teams, users, tags and providers that the account pool counts, by their names in the
 * configuration. Checks, errors, views, alerts and bounds derive from it.
 */
export const LIMIT_KINDS = {
  requests_per_minute: { unit: "requests", span: "minute" },
  tokens_per_minute: { unit: "tokens", span: "minute" },
  max_parallel: { unit: "requests", span: "parallel" },
  tokens_per_day: { unit: "tokens", span: "day" },
  tokens_per_month: { unit: "tokens", span: "month" },
  cost_per_day: { unit: "cost", span: "day" },
  cost_per_month: { unit: "cost", span: "month" },
} as const satisfies Readonly<Record<string, LimitKind>>;

export type LimitName = keyof typeof LIMIT_KINDS;

const isLimitName = (name: string): name is LimitName => Object.hasOwn(LIMIT_KINDS, name);

export const LIMIT_NAMES: readonly LimitName[] = Object.keys(LIMIT_KINDS).filter(isLimitName);

/** A limit of a day or a month, as opposed to one that recovers within a minute. */
export type Budget = Extract<LimitKind, { readonly span: "day" | "month" }>;

export const isBudget = (kind: LimitKind): kind is Budget => kind.span === "day" || kind.span === "month";

/** A value for each limit. */
export function mapLimits<T>(createValue: (name: LimitName) => T): Record<LimitName, T> {
  return {
    requests_per_minute: createValue("requests_per_minute"),
    tokens_per_minute: createValue("tokens_per_minute"),
    max_parallel: createValue("max_parallel"),
    tokens_per_day: createValue("tokens_per_day"),
    tokens_per_month: createValue("tokens_per_month"),
    cost_per_day: createValue("cost_per_day"),
    cost_per_month: createValue("cost_per_month"),
  };
}
