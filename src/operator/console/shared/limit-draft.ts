import { LIMIT_KINDS, LIMIT_NAMES, type LimitName } from "../../../core/config/limit-kinds.ts";
import type { KeyScope } from "../api/keys.ts";
import { formatApiStyle } from "../ui/api-styles.ts";
import { InvalidInput } from "../ui/forms/form-errors.ts";
import { words } from "../ui/words.ts";
import { texts } from "./texts.ts";

/** A limit of a key, for the form. */
export interface LimitField {
  /** Name in the configuration. */
  readonly name: LimitName;
  readonly label: string;
}

const LABELS: Readonly<Record<LimitName, string>> = {
  requests_per_minute: texts.requestsMinute,
  tokens_per_minute: texts.tokensMinute,
  max_parallel: texts.requestsAtOnce,
  tokens_per_day: texts.tokensDay,
  tokens_per_month: texts.tokensMonth,
  cost_per_day: texts.costDay,
  cost_per_month: texts.costMonth,
};

/** All limits, in the order of the form. */
export const LIMIT_FIELDS: readonly LimitField[] = LIMIT_NAMES.map((name) => ({ name, label: LABELS[name] }));

/** Names of a key's lists in the configuration. */
const LIST_NAMES = ["models", "dialects", "networks", "allowed_tags"] as const;
type ListName = (typeof LIST_NAMES)[number];

/** Input values of the form for limits; numbers and lists are texts. */
export type LimitDraft = Readonly<Record<string, string>>;

/** Returns the input values for the limits of a key, a team, a user or a tag; null: a new one. */
export function toLimitDraft(scope: Partial<KeyScope> | null): LimitDraft {
  const draft: Record<string, string> = {};
  for (const { name } of LIMIT_FIELDS) {
    const limit = scope?.limits?.[name];
    draft[name] = typeof limit === "number" && limit > 0 ? String(limit) : "";
  }
  for (const list of LIST_NAMES) {
    draft[list] = (scope?.[list] ?? []).join(", ");
  }
  return draft;
}

/** Parses a list whose entries are separated by commas, semicolons or white space. */
export function parseList(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((entry) => entry !== ""))];
}

/**
 * Converts the input values of numbers to limits. Limits that this console does not know keep their values.
 *
 * @throws InvalidInput with a message for the user if a limit is invalid
 */
export function parseLimits(draft: LimitDraft, current: KeyScope["limits"] = {}): Record<string, unknown> {
  const limits: Record<string, unknown> = { ...current };
  for (const { name, label } of LIMIT_FIELDS) {
    const text = (draft[name] ?? "").trim();
    const limit = Number(text);
    const isCost = LIMIT_KINDS[name].unit === "cost";
    if (!(limit >= 0 && (isCost || Number.isSafeInteger(limit)))) {
      const message = texts.emptyForNoLimit(label, isCost ? texts.number : texts.wholeNumber);
      throw new InvalidInput({ [`limits.${name}`]: message });
    }
    if (limit > 0) limits[name] = limit;
    else Reflect.deleteProperty(limits, name);
  }
  return limits;
}

/**
 * Converts the input values to the request.
 *
 * @throws InvalidInput with a message for the user if a limit is invalid
 */
export function parseScope(draft: LimitDraft, current: KeyScope | null): KeyScope {
  const limits = parseLimits(draft, current?.limits);
  const list = (name: ListName) => parseList(draft[name] ?? "");
  return {
    limits,
    models: list("models"),
    dialects: list("dialects"),
    networks: list("networks"),
    allowed_tags: list("allowed_tags"),
  };
}

/** Summarizes what a key may be used for; empty: everything. */
export function summarizeScope({
  models,
  dialects,
  networks,
  allowed_tags,
}: Omit<KeyScope, "limits">): string {
  const lists = [
    [words.models, models],
    [texts.styles, dialects.map(formatApiStyle)],
    [texts.networks, networks],
    [texts.allowedTags, allowed_tags],
  ] as const;
  return lists
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}: ${list.join(", ")}`)
    .join(" · ");
}
