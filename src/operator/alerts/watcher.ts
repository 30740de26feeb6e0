import { listApiKeys } from "../../core/config/api-keys.ts";
import type { Config } from "../../core/config/schema.ts";
import type { Webhook } from "../../core/config/schemas/alert-schema.ts";
import { truncateText } from "../../core/encoding/text-slices.ts";
import { describeForLog } from "../../core/errors/failure-message.ts";
import type { Alert, AlertKind, AlertStatus, AlertTestResult } from "../../core/ports/alerts.ts";
import type { Awaitable } from "../../core/ports/awaitable.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { formatAlertName } from "./alert-notification.ts";
import { errorTotals } from "./error-rate.ts";
import { type ErrorRate, evaluateRules, listSubjectLimits } from "./evaluate-rules.ts";
import { listActiveWebhooks, type QueuedMessage, WebhookDeliveries } from "./webhook-deliveries.ts";

/** Interval of the checks, milliseconds. */
const CHECK_INTERVAL_MS = 30_000;
/** Most alerts of budgets that are open at a time. A Durable Object stores the state as one value of at most 2 MB. */
const MAX_BUDGETS = 2_000;
/** Longest message of an alert, in characters. */
const MAX_MESSAGE_LENGTH = 300;
/** The period for the error rate. */
const RATE_MS = 300_000;

/** The state of a reported alert. */
interface ReportedAlert {
  readonly alert: Alert;
  /** When the problem began, Unix milliseconds; 0: it has ended, but its quiet period has not. */
  readonly since: number;
  /** When it was last reported, Unix milliseconds. */
  readonly at: number;
  /** The ids of the webhooks that it was reported to; absent in states of earlier versions: all. */
  readonly webhooks?: readonly string[];
}

/** A watcher's state, as plain data. Stored: old states must stay readable, so the names of the fields stay. */
export interface WatchState {
  /** Reported alerts, by kind and subject. */
  readonly told: Readonly<Record<string, ReportedAlert>>;
  readonly messages: readonly QueuedMessage[];
  /** Totals of requests at earlier checks, for the error rate. */
  readonly rates: readonly { readonly at: number; readonly total: number; readonly failed: number }[];
}

/** A watcher's dependencies. */
export interface WatcherOptions {
  readonly platform: Pick<
    Platform,
    "accounts" | "archive" | "configuration" | "deploymentFetch" | "fetch" | "now" | "variables"
  >;
  readonly load: () => WatchState | null;
  readonly save: (state: WatchState) => void;
}

/** Checks the deployment twice a minute. Reports a problem to the webhooks once, and again after its quiet period. */
export class Watcher {
  readonly #platform: WatcherOptions["platform"];
  readonly #save: WatcherOptions["save"];
  #reported: Map<string, ReportedAlert>;
  readonly #deliveries: WebhookDeliveries;
  /** Why the last save failed; empty: it did not. */
  #saveError = "";
  /** How many alerts of budgets the last round had no room for. */
  #unreported = 0;
  #rates: WatchState["rates"];
  /** The last started round. */
  #rounds: Promise<unknown> = Promise.resolve();

  constructor({ platform, load, save }: WatcherOptions) {
    this.#platform = platform;
    this.#save = save;
    const state = load();
    this.#reported = new Map(Object.entries(state?.told ?? {}));
    this.#deliveries = new WebhookDeliveries(platform, state?.messages ?? []);
    this.#rates = state?.rates ?? [];
  }

  /**
   * Checks, sends new alerts, and resends failed messages. Rounds run one after the other, so that nothing is sent twice.
   * Returns the milliseconds until the next call; null: there is no active webhook. Never rejects: a failed round is in
   * the log, and the next one comes as usual.
   */
  runRound(): Promise<number | null> {
    const round = this.#rounds
      .then(() => this.#runRound())
      .catch((error: unknown) => {
        this.#log({ alerts_not_checked: describeForLog(error) });
        return CHECK_INTERVAL_MS;
      });
    this.#rounds = round;
    return round;
  }

  async #runRound(): Promise<number | null> {
    const { config } = await this.#platform.configuration.readFresh();
    const isActive = listActiveWebhooks(config).length > 0;
    if (isActive) await this.#checkRules(config);
    // No round would notice the end of an alert.
    else this.#reported.clear();
    await this.#deliveries.sendDue(config);
    this.#saveState();
    return isActive ? CHECK_INTERVAL_MS : null;
  }

  /** See `AlertWatcher.report`. The next round sends it. */
  async report(alert: Alert): Promise<void> {
    const { config } = await this.#platform.configuration.readFresh();
    const rule = config.alerts.rules[alert.kind];
    if (!rule.enabled) return;
    this.#raiseAlert(config, alert, rule.quiet_minutes);
    this.#saveState();
  }

  /** See `AlertWatcher.test`. */
  async test(id: string): Promise<AlertTestResult | null> {
    const { config } = await this.#platform.configuration.readFresh();
    const webhook = config.alerts.webhooks.find((candidate) => candidate.id === id);
    if (webhook === undefined) return null;
    const { status, error } = await this.#deliveries.sendTest(webhook, config);
    this.#saveState();
    return { success: error === "", status, message: error === "" ? "it has arrived" : error };
  }

  status(): AlertStatus {
    return {
      firing: [...this.#reported.values()].map(({ alert, since }) => ({ ...alert, since })),
      deliveries: this.#deliveries.list(),
    };
  }

  async #checkRules(config: Config): Promise<void> {
    const { accounts, archive, now } = this.#platform;
    // A failed read must not suppress the other checks.
    const [status, uses, metrics] = await Promise.all([
      readOrNull(() => accounts.getStatus()),
      readOrNull(() => accounts.listSubjectUsage()),
      readOrNull(() => archive.readMetrics()),
    ]);
    const unreadKinds = new Set<AlertKind>([
      ...(status === null ? (["queue_depth", "cooling_accounts", "empty_pool"] as const) : []),
      // A pool that does not answer may be the one that knows that a provider is down.
      ...(status === null || status.partial === true ? (["provider_down"] as const) : []),
      ...(uses === null ? (["budget"] as const) : []),
      ...(metrics === null ? (["error_rate"] as const) : []),
    ]);
    const at = now();
    const rate = metrics === null ? { total: 0, failed: 0 } : this.#computeRate(errorTotals(metrics), at);
    const { rules } = config.alerts;
    const inputs = { status, uses: uses ?? [], keys: listApiKeys(config), rate };
    const alerts = await evaluateRules({ ...inputs, subjects: listSubjectLimits(config) }, rules);
    const active = new Set(alerts.map(formatAlertName));
    this.#endAlerts(config, active, unreadKinds, at);
    const admitted = this.#admitAlerts(alerts);
    for (const alert of admitted) this.#raiseAlert(config, alert, rules[alert.kind].quiet_minutes);
    const unreported = alerts.length - admitted.length;
    if (unreported > 0 && unreported !== this.#unreported) {
      const cause = `${MAX_BUDGETS} budgets are reported at the moment`;
      this.#log({ alerts_not_reported: unreported, cause });
    }
    this.#unreported = unreported;
  }

  /**
   * Omits new alerts of budgets beyond the limit. Does not replace an open alert: the next round would report it again. The
   * other kinds have one alert each, or one for each provider.
   */
  #admitAlerts(alerts: readonly Alert[]): readonly Alert[] {
    let room = MAX_BUDGETS;
    for (const { alert } of this.#reported.values()) if (alert.kind === "budget") room -= 1;
    return alerts.filter(
      (alert) => alert.kind !== "budget" || this.#reported.has(formatAlertName(alert)) || room-- > 0,
    );
  }

  /** Ends the reported alerts that are not active any more. Those of kinds that could not be read stay as they are. */
  #endAlerts(
    config: Config,
    active: ReadonlySet<string>,
    unreadKinds: ReadonlySet<AlertKind>,
    at: number,
  ): void {
    const { rules } = config.alerts;
    for (const [name, reported] of this.#reported) {
      const { alert, since, at: reportedAt } = reported;
      if (active.has(name) || unreadKinds.has(alert.kind)) continue;
      if (alert.kind === "sync_failed") {
        // No check observes its end, so it ends with its quiet period.
        if (at - since < rules.sync_failed.quiet_minutes * 60_000) continue;
        this.#reported.delete(name);
        continue;
      }
      // A problem that comes and goes is reported once per quiet period.
      if (at - reportedAt < rules[alert.kind].quiet_minutes * 60_000 && alert.kind !== "budget") {
        if (since !== 0) this.#queueEnd(config, reported);
        this.#reported.set(name, { ...reported, since: 0 });
        continue;
      }
      this.#reported.delete(name);
      if (since !== 0) this.#queueEnd(config, reported);
    }
  }

  /** The increase of the totals in the last minutes. */
  #computeRate(totals: ErrorRate, at: number): ErrorRate {
    const recent = this.#rates.filter((rate) => rate.at > at - RATE_MS && rate.at <= at);
    const oldest = recent[0] ?? totals;
    this.#rates = [...recent, { at, ...totals }];
    return { total: totals.total - oldest.total, failed: totals.failed - oldest.failed };
  }

  /** Queues an alert for the webhooks that get its rule, unless it was reported within its quiet period. */
  #raiseAlert(config: Config, { message, ...facts }: Alert, quietMinutes: number): void {
    const alert = { ...facts, message: truncateText(message, MAX_MESSAGE_LENGTH) };
    const at = this.#platform.now();
    const name = formatAlertName(alert);
    const reported = this.#reported.get(name);
    const isQuiet = reported !== undefined && reported.at <= at && at - reported.at < quietMinutes * 60_000;
    // A used-up budget stays so for long: one report is enough.
    const isOldBudget = reported !== undefined && alert.kind === "budget";
    const since = reported === undefined || reported.since === 0 ? at : reported.since;
    if (isQuiet || isOldBudget) {
      this.#reported.set(name, { ...reported, alert, since });
      return;
    }
    const webhooks = listActiveWebhooks(config).filter(({ rules }) => rules?.includes(alert.kind) ?? true);
    this.#deliveries.queue(webhooks, "firing", alert);
    const earlier = reported === undefined || reported.since === 0 ? [] : listRecipients(config, reported);
    const ids = [...earlier, ...webhooks].map(({ id }) => id);
    this.#reported.set(name, { alert, since, at, webhooks: [...new Set(ids)] });
  }

  #queueEnd(config: Config, reported: ReportedAlert): void {
    this.#deliveries.queue(listRecipients(config, reported), "resolved", reported.alert);
  }

  /** Saves the state. If that fails, it stays in memory, and the next round saves it. */
  #saveState(): void {
    const { messages, unsent } = this.#deliveries.listToStore();
    if (unsent > 0) {
      this.#log({ alert_messages_dropped: unsent, cause: `${messages.length} messages wait to be sent` });
    }
    try {
      this.#save({ told: Object.fromEntries(this.#reported), messages, rates: this.#rates });
      this.#saveError = "";
    } catch (error) {
      const cause = describeForLog(error);
      // A full disk fails at each round, and one line is enough.
      if (cause !== this.#saveError) this.#log({ alerts_not_saved: cause });
      this.#saveError = cause;
    }
  }

  #log(line: Readonly<Record<string, string | number>>): void {
    console.error(JSON.stringify({ at: new Date(this.#platform.now()).toISOString(), ...line }));
  }
}

/** The active webhooks that an alert was reported to. */
function listRecipients(config: Config, { webhooks }: ReportedAlert): Webhook[] {
  return listActiveWebhooks(config).filter(({ id }) => webhooks?.includes(id) ?? true);
}

/** Returns null if the read fails. */
async function readOrNull<T>(read: () => Awaitable<T>): Promise<T | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}
