import type { Webhook } from "../../core/config/alert-schema.ts";
import { listApiKeys } from "../../core/config/api-keys.ts";
import type { Config } from "../../core/config/schema.ts";
import { checkWebhookUrl } from "../../core/config/webhook-url.ts";
import type {
  Alert,
  AlertDelivery,
  AlertKind,
  AlertStatus,
  AlertTestResult,
} from "../../core/ports/alerts.ts";
import type { Awaitable } from "../../core/ports/awaitable.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { type AlertNotification, formatBody, formatText, signBody } from "./alert-notification.ts";
import { type ErrorRate, evaluateRules, listSubjectLimits } from "./alert-rules.ts";
import { errorTotals } from "./error-rate.ts";

/** Interval of the checks, milliseconds. */
export const CHECK_INTERVAL_MS = 30_000;
/** Pauses before resending a failed message; after the last one it is dropped. */
const RETRY_MS = [30_000, 120_000, 600_000, 1_800_000, 7_200_000];
const TIMEOUT_MS = 10_000;
/** The period for the error rate. */
const RATE_MS = 300_000;
/** Limit of stored deliveries, waiting ones included. */
const MAX_DELIVERIES = 50;

/** A notification for one webhook, with the state of its delivery. */
interface Message {
  readonly news: AlertNotification;
  readonly webhook: string;
  attempts: number;
  /** When to send next, Unix milliseconds; 0: finished. */
  due: number;
  error: string;
}

/** The state of a reported alert. */
interface ReportedAlert {
  readonly alert: Alert;
  /** When the problem began, Unix milliseconds; 0: it has ended, but its quiet period has not. */
  readonly since: number;
  /** When it was last reported, Unix milliseconds. */
  readonly at: number;
}

/** A watcher's state, as plain data. Stored: old states must stay readable, so the names of the fields stay. */
export interface WatchState {
  /** Reported alerts, by kind and subject. */
  readonly told: Readonly<Record<string, ReportedAlert>>;
  readonly messages: readonly Message[];
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
  #messages: Message[];
  #rates: WatchState["rates"];
  /** The last started round; it never rejects. */
  #rounds: Promise<unknown> = Promise.resolve();

  constructor({ platform, load, save }: WatcherOptions) {
    this.#platform = platform;
    this.#save = save;
    const state = load();
    this.#reported = new Map(Object.entries(state?.told ?? {}));
    this.#messages = (state?.messages ?? []).map((message) => ({ ...message }));
    this.#rates = state?.rates ?? [];
  }

  /**
   * Checks, sends new alerts, and resends failed messages. Rounds run one after the other, so that nothing is sent twice.
   * Returns the milliseconds until the next call; null: there is no active webhook.
   */
  runRound(): Promise<number | null> {
    const round = this.#rounds.then(() => this.#runRound());
    this.#rounds = round.catch(() => undefined);
    return round;
  }

  async #runRound(): Promise<number | null> {
    const { config } = await this.#platform.configuration.readFresh();
    const webhooks = listActiveWebhooks(config);
    if (webhooks.length === 0) return null;
    await this.#checkRules(config);
    await this.#deliver(webhooks, config);
    this.#saveState();
    return CHECK_INTERVAL_MS;
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
    const notification: AlertNotification = {
      id: newId(),
      at: this.#platform.now(),
      state: "test",
      alert: null,
    };
    const { status, error } = await this.#send(webhook, notification, config);
    this.#messages.push({ news: notification, webhook: id, attempts: 1, due: 0, error });
    this.#saveState();
    return { success: error === "", status, message: error === "" ? "it has arrived" : error };
  }

  status(): AlertStatus {
    const deliveries = this.#messages.map(
      ({ news, webhook, attempts, due, error }): AlertDelivery => ({
        at: news.at,
        webhook,
        kind: news.alert?.kind ?? "test",
        message: formatText(news),
        attempts,
        error,
        pending: due > 0,
      }),
    );
    return {
      firing: [...this.#reported.values()].map(({ alert, since }) => ({ ...alert, since })),
      deliveries: deliveries.toReversed(),
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
    const active = new Set<string>();
    for (const alert of alerts) {
      active.add(formatAlertName(alert));
      this.#raiseAlert(config, alert, rules[alert.kind].quiet_minutes);
    }
    for (const [name, { alert, since, at: reportedAt }] of this.#reported) {
      if (active.has(name) || unreadKinds.has(alert.kind)) continue;
      if (alert.kind === "sync_failed") {
        // No check observes its end, so it ends with its quiet period.
        if (at - since < rules.sync_failed.quiet_minutes * 60_000) continue;
        this.#reported.delete(name);
        continue;
      }
      // A problem that comes and goes is reported once per quiet period.
      if (at - reportedAt < rules[alert.kind].quiet_minutes * 60_000 && alert.kind !== "budget") {
        if (since !== 0) this.#queue(config, "resolved", alert);
        this.#reported.set(name, { alert, since: 0, at: reportedAt });
        continue;
      }
      this.#reported.delete(name);
      if (since !== 0) this.#queue(config, "resolved", alert);
    }
  }

  /** The increase of the totals in the last minutes. */
  #computeRate(totals: ErrorRate, at: number): ErrorRate {
    const recent = this.#rates.filter((rate) => rate.at > at - RATE_MS && rate.at <= at);
    const oldest = recent[0] ?? totals;
    this.#rates = [...recent, { at, ...totals }];
    return { total: totals.total - oldest.total, failed: totals.failed - oldest.failed };
  }

  /** Queues an alert for all webhooks, unless it was reported within its quiet period. */
  #raiseAlert(config: Config, alert: Alert, quietMinutes: number): void {
    const at = this.#platform.now();
    const name = formatAlertName(alert);
    const reported = this.#reported.get(name);
    const isQuiet = reported !== undefined && reported.at <= at && at - reported.at < quietMinutes * 60_000;
    // A used-up budget stays so for long: one report is enough.
    const isOldBudget = reported !== undefined && alert.kind === "budget";
    const since = reported === undefined || reported.since === 0 ? at : reported.since;
    this.#reported.set(name, { alert, since, at: isQuiet || isOldBudget ? reported.at : at });
    if (!isQuiet && !isOldBudget) this.#queue(config, "firing", alert);
  }

  #queue(config: Config, state: AlertNotification["state"], alert: Alert): void {
    const at = this.#platform.now();
    const notification: AlertNotification = { id: newId(), at, state, alert };
    for (const { id } of listActiveWebhooks(config)) {
      this.#messages.push({ news: notification, webhook: id, attempts: 0, due: at, error: "" });
    }
  }

  async #deliver(webhooks: readonly Webhook[], config: Config): Promise<void> {
    const now = this.#platform.now();
    const due = this.#messages.filter((message) => message.due > 0 && message.due <= now);
    await Promise.all(
      due.map(async (message) => {
        const webhook = webhooks.find(({ id }) => id === message.webhook);
        const { error } =
          webhook === undefined
            ? { error: "there is no such webhook any more" }
            : await this.#send(webhook, message.news, config);
        const pause = RETRY_MS[message.attempts];
        message.attempts += 1;
        message.error = error;
        const willRetry = error !== "" && webhook !== undefined && pause !== undefined;
        message.due = willRetry ? this.#platform.now() + pause : 0;
      }),
    );
  }

  /** Sends once. An empty error means success. */
  async #send(
    webhook: Webhook,
    notification: AlertNotification,
    { alerts }: Config,
  ): Promise<{ status: number; error: string }> {
    const { now } = this.#platform;
    const checked = checkWebhookUrl(webhook.url, alerts);
    if (!checked.ok) return { status: 0, error: checked.message };
    // On Deno `fetch` also refuses names that lead to private addresses.
    const fetch = checked.isListed ? this.#platform.deploymentFetch : this.#platform.fetch;
    const body = formatBody(notification, webhook.format);
    try {
      const response = await fetch(checked.url.href, {
        method: "POST",
        // The URL check does not cover the redirect's target.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          "content-type": "application/json",
          "user-agent": "Polygate",
          ...(await signBody(notification.id, now(), body, webhook.secret)),
        },
        body,
      });
      await response.body?.cancel();
      const { status } = response;
      return { status, error: status >= 200 && status < 300 ? "" : `the webhook answered ${status}` };
    } catch {
      return { status: 0, error: "the webhook could not be reached" };
    }
  }

  #saveState(): void {
    this.#messages = this.#messages.slice(-MAX_DELIVERIES);
    try {
      this.#save({
        told: Object.fromEntries(this.#reported),
        messages: this.#messages,
        rates: this.#rates,
      });
    } catch {
      // The messages were sent all the same. The next round stores the state again.
    }
  }
}

/** Returns null if the read fails. */
async function readOrNull<T>(read: () => Awaitable<T>): Promise<T | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}

function listActiveWebhooks({ alerts }: Config): Webhook[] {
  return alerts.webhooks.filter(({ disabled }) => !disabled);
}

const formatAlertName = ({ kind, subject }: Alert): string => `${kind} ${subject}`;

const newId = (): string => `msg_${crypto.randomUUID().replaceAll("-", "")}`;
