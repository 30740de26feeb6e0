import { keyIdentifier } from "../../core/config/api-keys.ts";
import { isBudget, LIMIT_KINDS, LIMIT_NAMES } from "../../core/config/limit-kinds.ts";
import { DEFAULT_PROVIDER, toProviderId } from "../../core/config/provider-id.ts";
import type { Config } from "../../core/config/schema.ts";
import type { AlertRules } from "../../core/config/schemas/alert-schema.ts";
import type { ApiKey } from "../../core/config/schemas/key-schema.ts";
import type { ProviderTrouble, QueueStatus } from "../../core/ports/account-status.ts";
import type { Alert } from "../../core/ports/alerts.ts";
import {
  formatSubject,
  getUsedAmount,
  parseSubject,
  type SubjectUsage,
} from "../../core/ports/subject-limits.ts";
import { NANO } from "../../core/units.ts";

/** Below this number of generations a rate means nothing. */
const MIN_ANSWERS = 10;

/** Generations of some minutes, and those that failed by the provider's or the gateway's fault. */
export interface ErrorRate {
  readonly total: number;
  readonly failed: number;
}

/** The input of the checks. */
export interface AlertInputs {
  /** Null: the pool's status could not be read. */
  readonly status: QueueStatus | null;
  readonly uses: readonly SubjectUsage[];
  readonly keys: readonly ApiKey[];
  /** Teams, users, tags and providers, by their names in the pool. */
  readonly subjects?: ReadonlyMap<string, ApiKey["limits"]>;
  readonly rate: ErrorRate;
}

/** Checks a reading against the alert rules and returns the alerts. */
export async function evaluateRules(
  { status, uses, keys, subjects = new Map(), rate }: AlertInputs,
  rules: AlertRules,
): Promise<Alert[]> {
  const alerts: Alert[] = [];
  const add = (kind: Alert["kind"], value: number, message: string) => {
    alerts.push({ kind, subject: "", message, value, threshold: rules[kind].threshold });
  };
  const percent = rate.total < MIN_ANSWERS ? 0 : (100 * rate.failed) / rate.total;
  if (percent > rules.error_rate.threshold) {
    const value = Math.round(percent);
    add("error_rate", value, `${value}% of the last ${rate.total} generations failed`);
  }
  if (status !== null) {
    const scope = status.partial === true ? ", not counting pools that do not answer" : "";
    if (status.waiting > rules.queue_depth.threshold) {
      add("queue_depth", status.waiting, `${status.waiting} requests wait for an account${scope}`);
    }
    const cooling = new Set(status.cooldowns.map(({ account }) => account)).size;
    if (cooling > 0 && cooling >= rules.cooling_accounts.threshold) {
      add("cooling_accounts", cooling, `${cooling} of ${status.total} accounts cool down${scope}`);
    }
    if (status.ready <= rules.empty_pool.threshold) {
      add(
        "empty_pool",
        status.ready,
        `${status.ready} of ${status.total} accounts can serve requests${scope}`,
      );
    }
    alerts.push(...evaluateProviders(status.troubles ?? []));
  }
  const byKey = new Map(uses.map((usage) => [usage.key, usage]));
  for (const key of keys) {
    const id = await keyIdentifier(key);
    const usage = key.limits === undefined ? undefined : byKey.get(formatSubject("key", id));
    if (usage === undefined) continue;
    const label = `the key ${key.name === "" ? id : `${key.name} (${id})`}`;
    alerts.push(...evaluateBudgets(label, key.limits, usage, rules.budget.threshold));
  }
  for (const [name, limits] of subjects) {
    const usage = limits === undefined ? undefined : byKey.get(name);
    const { kind, id } = parseSubject(name);
    if (usage !== undefined)
      alerts.push(...evaluateBudgets(`the ${kind} ${id}`, limits, usage, rules.budget.threshold));
  }
  return alerts.filter(({ kind }) => rules[kind].enabled);
}

/** The limits of all teams, users, tags and providers that have any, by their names in the pool. */
export function listSubjectLimits(config: Config): Map<string, ApiKey["limits"]> {
  const lists = [
    ["team", config.teams],
    ["user", config.users],
    ["tag", config.tags],
    ["provider", [{ id: DEFAULT_PROVIDER, ...config.default_provider }, ...config.providers]],
  ] as const;
  return new Map(
    lists.flatMap(([kind, entries]) =>
      entries.flatMap(({ id, limits }) =>
        limits === undefined ? [] : [[formatSubject(kind, id), limits] as const],
      ),
    ),
  );
}

/** An alert for each provider that is down. */
function evaluateProviders(troubles: readonly ProviderTrouble[]): Alert[] {
  return troubles
    .filter(({ health }) => health === "down")
    .map(({ provider, last_error }) => {
      const subject = toProviderId(provider);
      const reason = last_error === null ? "" : `: ${last_error.reason}`;
      const message = `the provider ${subject} is down${reason}`;
      return { kind: "provider_down", subject, message, value: 1, threshold: 0 };
    });
}

/** An alert for each budget above the threshold, and a second one when it is used up. */
function evaluateBudgets(
  label: string,
  limits: NonNullable<ApiKey["limits"]> | undefined,
  usage: SubjectUsage,
  threshold: number,
): Alert[] {
  if (limits === undefined) return [];
  return LIMIT_NAMES.flatMap((name) => {
    const kind = LIMIT_KINDS[name];
    const limit = limits[name] ?? 0;
    if (limit <= 0 || !isBudget(kind)) return [];
    const budget = `${kind.unit} of a ${kind.span}`;
    const amount = getUsedAmount(usage, kind);
    const used = kind.unit === "cost" ? amount / NANO : amount;
    const percent = Math.floor((100 * used) / limit);
    const levels = [threshold, 100].filter(
      (level, index, all) => percent >= level && all.indexOf(level) === index,
    );
    return levels.map((level) => ({
      kind: "budget" as const,
      subject: `${usage.key} ${budget} ${level}`,
      message: `${label} has used ${percent}% of its ${budget}`,
      value: percent,
      threshold: level,
    }));
  });
}
