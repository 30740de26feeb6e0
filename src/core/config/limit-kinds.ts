/** The limits of keys, teams, users, tags and providers that the account pool counts, by their names in the configuration. */
export const LIMIT_NAMES = [
  "requests_per_minute",
  "tokens_per_minute",
  "max_parallel",
  "tokens_per_day",
  "tokens_per_month",
  "cost_per_day",
  "cost_per_month",
] as const;

export type LimitName = (typeof LIMIT_NAMES)[number];

/** What a limit counts, and over which time. `parallel`: the requests that run at the same time. */
export type LimitKind =
  | { readonly unit: "requests"; readonly span: "parallel" }
  | { readonly unit: "requests" | "tokens"; readonly span: "minute" }
  | { readonly unit: "tokens" | "cost"; readonly span: "day" | "month" };

/**
 * Everything that the program knows about each limit: checks, errors, views, alerts and bounds derive from it. A name without
 * an entry does not compile.
 */
export const LIMIT_KINDS: Readonly<Record<LimitName, LimitKind>> = {
  requests_per_minute: { unit: "requests", span: "minute" },
  tokens_per_minute: { unit: "tokens", span: "minute" },
  max_parallel: { unit: "requests", span: "parallel" },
  tokens_per_day: { unit: "tokens", span: "day" },
  tokens_per_month: { unit: "tokens", span: "month" },
  cost_per_day: { unit: "cost", span: "day" },
  cost_per_month: { unit: "cost", span: "month" },
};

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
