/**
 * The limits of keys, teams, users, tags and providers, as the account pool counts them. Costs are whole billionths of the
 * currency of the prices: sums are exact up to 2^53, and to 15 digits beyond.
 */

import type { LimitKind, LimitName } from "../config/limit-kinds.ts";
import type { SubjectEntry } from "../config/schemas/subject-schema.ts";

/** The limits of a subject. An absent limit, or 0, means unlimited. */
export type SubjectLimits = Readonly<Partial<Record<LimitName, number>>>;

/** What a request has used, or is expected to use. */
export interface SpentAmounts {
  readonly tokens: number;
  readonly cost: number;
}

/** What a limit belongs to. */
const SUBJECT_KINDS = ["key", "user", "team", "tag", "provider"] as const;

export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/**
 * Something with limits that a request counts for. Here, in {@link LimitedUse} and in {@link SubjectUsage}, `key` is
 * the name of a subject (`formatSubject`): these objects are RPC messages, also between the versions of a deployment,
 * and are sent as they are.
 */
export interface LimitedSubject {
  readonly key: string;
  readonly limits: SubjectLimits;
}

/** One request with limits, from start to end, over all attempts and queues. */
export interface LimitedUse extends SpentAmounts {
  /** A unique id of the request. Never a value from the client: the pool counts a repeated id only once. */
  readonly id: string;
  /** The first subject, usually the key. Empty: none, because another provider was tried. */
  key: string;
  limits: SubjectLimits;
  /** Further subjects. They change when the request goes to another provider. */
  others?: readonly LimitedSubject[];
  /** It reads or deletes what exists: used-up limits of tokens and cost do not refuse it. */
  costsNothing?: true;
}

const findPrefix = (name: string) => SUBJECT_KINDS.find((kind) => name.startsWith(`${kind}:`));

/**
 * The name of a subject in the pool: its kind and id. A key's name is its id alone, unless the id reads like the name of
 * another subject.
 */
export function formatSubject(kind: SubjectKind, id: string): string {
  return kind === "key" && findPrefix(id) === undefined ? id : `${kind}:${id}`;
}

/** The kind and id of a subject in the pool. */
export function parseSubject(name: string): { readonly kind: SubjectKind; readonly id: string } {
  const kind = findPrefix(name);
  return kind === undefined ? { kind: "key", id: name } : { kind, id: name.slice(kind.length + 1) };
}

/** All subjects of a request. */
export function listSubjects({ key, limits, others = [] }: LimitedUse): LimitedSubject[] {
  return key === "" ? [] : [{ key, limits }, ...others];
}

/** Why a request must wait, or can never be served. */
export interface LimitRefusal {
  /** The name of the subject with the limit; absent: the key. */
  readonly subject?: string;
  readonly limit: LimitName;
  /** The value of the limit. */
  readonly max: number;
  /** The current usage. */
  readonly used: number;
  /** Milliseconds until there is room; null if the request exceeds the whole limit. */
  readonly resetMs: number | null;
}

/** State of a rolling minute. `resetMs`: milliseconds until the whole limit is available again. */
export interface RateWindowState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** The remaining limits of a request's minute; null if no such limit is set. */
export interface RemainingLimits {
  readonly requests: RateWindowState | null;
  readonly tokens: RateWindowState | null;
}

/** Current usage of the limits of a subject. Days and months are in UTC. */
export interface SubjectUsage {
  readonly key: string;
  readonly parallel: number;
  readonly minute: { readonly requests: number; readonly tokens: number };
  readonly day: SpentAmounts;
  readonly month: SpentAmounts;
}

/** The use of a subject of which nothing counts. */
export const NO_USE: Omit<SubjectUsage, "key"> = {
  parallel: 0,
  minute: { requests: 0, tokens: 0 },
  day: { tokens: 0, cost: 0 },
  month: { tokens: 0, cost: 0 },
};

/** What counts towards a limit. */
export function getUsedAmount(
  { parallel, minute, day, month }: Omit<SubjectUsage, "key">,
  kind: LimitKind,
): number {
  switch (kind.span) {
    case "parallel":
      return parallel;
    case "minute":
      return minute[kind.unit];
    case "day":
      return day[kind.unit];
    case "month":
      return month[kind.unit];
  }
}

/** The state of one request's limits; filled in while the request is served. */
export interface RequestLimits {
  /** The tags that the caller gave the request. */
  tags?: readonly string[];
  /** The entries of these tags in the configuration, with their limits, models and history mode. */
  tagEntries?: readonly SubjectEntry[];
  /**
   * The use that the request has declared to the pool. Undefined if not declared yet, or if none of its subjects has
   * limits to count.
   */
  use?: LimitedUse;
  /** True if the pool may have admitted the request: its usage must be settled. */
  mustSettle?: boolean;
  /** The remaining limits, for the answer's headers. */
  remaining?: RemainingLimits;
}
