import type { Config } from "../../core/config/schema.ts";
import type { Webhook } from "../../core/config/schemas/alert-schema.ts";
import { checkWebhookUrl } from "../../core/config/webhook-url.ts";
import { readRetryAfter } from "../../core/http/retry-after.ts";
import type { Alert, AlertDelivery } from "../../core/ports/alerts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import {
  type AlertNotification,
  formatAlertName,
  formatBody,
  formatText,
  signBody,
} from "./alert-notification.ts";

/** Pauses before resending a failed message, milliseconds; after the last one it is dropped. */
const RETRY_MS = [30_000, 120_000, 600_000, 1_800_000, 7_200_000];
/** The longest pause that a webhook can ask for, milliseconds. */
const MAX_STATED_PAUSE_MS = 7_200_000;
const TIMEOUT_MS = 10_000;
/** How long a round sends, milliseconds. The next round, which checks the rules first, sends the rest. */
const ROUND_MS = 20_000;
/** How many deliveries are listed, and stored once they have ended. */
const MAX_DELIVERIES = 50;
/** How many messages are stored, including those that wait for a retry: all of the state is one value of at most 2 MB. */
const MAX_MESSAGES = 1_000;

/** A notification for one webhook, with the state of its delivery. Stored: the names of the fields stay. */
export interface QueuedMessage {
  readonly news: AlertNotification;
  readonly webhook: string;
  attempts: number;
  /** When to send next, Unix milliseconds; 0: finished. */
  due: number;
  error: string;
}

/** The result of one attempt to send. An empty error means success. */
interface SendResult {
  /** The status of the webhook's answer; 0: there was none. */
  readonly status: number;
  readonly error: string;
  /** The pause that the webhook asks for (`Retry-After`), milliseconds; 0: none. */
  readonly pauseMs: number;
}

/** Whether the status of an attempt says that the webhook takes no messages at the moment, and not that it refused one. */
const isUnavailable = (status: number): boolean => status === 0 || status === 429 || status >= 500;

export function listActiveWebhooks({ alerts }: Config): Webhook[] {
  return alerts.webhooks.filter(({ disabled }) => !disabled);
}

const newId = (): string => `msg_${crypto.randomUUID().replaceAll("-", "")}`;

/** Delivers notifications to the webhooks, and repeats failed deliveries. */
export class WebhookDeliveries {
  readonly #platform: Pick<Platform, "deploymentFetch" | "fetch" | "now">;
  #messages: QueuedMessage[];

  /** @param messages those of an earlier process */
  constructor(
    platform: Pick<Platform, "deploymentFetch" | "fetch" | "now">,
    messages: readonly QueuedMessage[],
  ) {
    this.#platform = platform;
    this.#messages = messages.map((message) => ({ ...message }));
  }

  /** The latest deliveries, newest first. */
  list(): AlertDelivery[] {
    return this.#messages
      .slice(-MAX_DELIVERIES)
      .map(
        ({ news, webhook, attempts, due, error }): AlertDelivery => ({
          at: news.at,
          webhook,
          kind: news.alert?.kind ?? "test",
          message: formatText(news),
          attempts,
          error,
          pending: due > 0,
        }),
      )
      .toReversed();
  }

  /**
   * Drops the oldest messages beyond the limits, first those that have ended. Returns the others to store them, and how
   * many of the dropped ones were still to be sent.
   */
  listToStore(): { readonly messages: readonly QueuedMessage[]; readonly unsent: number } {
    let excess = this.#messages.length - MAX_DELIVERIES;
    const kept = this.#messages.filter(({ due }) => due > 0 || excess-- <= 0);
    this.#messages = kept.slice(-MAX_MESSAGES);
    return {
      messages: this.#messages,
      unsent: kept.slice(0, -MAX_MESSAGES).filter(({ due }) => due > 0).length,
    };
  }

  /** Queues a notification for webhooks. Retries of earlier ones about the same alert are due before it. */
  queue(webhooks: readonly Webhook[], state: AlertNotification["state"], alert: Alert): void {
    const at = this.#platform.now();
    const notification: AlertNotification = { id: newId(), at, state, alert };
    const name = formatAlertName(alert);
    for (const message of this.#messages) {
      const { news, due } = message;
      if (due > 0 && news.alert !== null && formatAlertName(news.alert) === name) message.due = at;
    }
    for (const { id } of webhooks) {
      this.#messages.push({ news: notification, webhook: id, attempts: 0, due: at, error: "" });
    }
  }

  /**
   * Sends all messages that are due, and schedules those that fail again. A receiver gets one message after the other, and
   * those about an alert in their order: its end never comes before its beginning. What a slow receiver does not take in
   * time stays due.
   */
  async sendDue(config: Config): Promise<void> {
    const webhooks = new Map(listActiveWebhooks(config).map((webhook) => [webhook.id, webhook]));
    const until = this.#platform.now() + ROUND_MS;
    for (;;) {
      const now = this.#platform.now();
      if (now >= until) return;
      const due = this.#listFirstPending().filter(
        (message) => message.due <= now || !webhooks.has(message.webhook),
      );
      if (due.length === 0) return;
      const byWebhook = Map.groupBy(due, ({ webhook }) => webhook);
      await Promise.all(
        [...byWebhook].map(([id, messages]) => this.#sendInOrder(webhooks.get(id), messages, config, until)),
      );
    }
  }

  /** Sends messages to one webhook. If it takes none at the moment, those that follow wait as long as the failed one. */
  async #sendInOrder(
    webhook: Webhook | undefined,
    messages: readonly QueuedMessage[],
    config: Config,
    until: number,
  ): Promise<void> {
    for (const [index, message] of messages.entries()) {
      if (this.#platform.now() >= until) return;
      if (webhook === undefined) {
        Object.assign(message, { due: 0, error: "there is no such webhook any more" });
        continue;
      }
      const { status, error, pauseMs } = await this.#send(webhook, message.news, config);
      const pause = RETRY_MS[message.attempts];
      message.attempts += 1;
      message.error = error;
      message.due = error !== "" && pause !== undefined ? this.#platform.now() + Math.max(pause, pauseMs) : 0;
      if (message.due > 0 && isUnavailable(status)) {
        for (const later of messages.slice(index + 1)) later.due = message.due;
        return;
      }
    }
  }

  /** The oldest pending message about each alert for each webhook. */
  #listFirstPending(): QueuedMessage[] {
    const first = new Map<string, QueuedMessage>();
    for (const message of this.#messages) {
      const { webhook, news, due } = message;
      const name = `${webhook} ${news.alert === null ? "" : formatAlertName(news.alert)}`;
      if (due > 0 && !first.has(name)) first.set(name, message);
    }
    return [...first.values()];
  }

  /** Sends a test message once. */
  async sendTest(webhook: Webhook, config: Config): Promise<SendResult> {
    const at = this.#platform.now();
    const notification: AlertNotification = { id: newId(), at, state: "test", alert: null };
    const result = await this.#send(webhook, notification, config);
    const { error } = result;
    this.#messages.push({ news: notification, webhook: webhook.id, attempts: 1, due: 0, error });
    return result;
  }

  async #send(webhook: Webhook, notification: AlertNotification, { alerts }: Config): Promise<SendResult> {
    const { now } = this.#platform;
    const checked = checkWebhookUrl(webhook.url, alerts);
    if (!checked.ok) return { status: 0, error: checked.message, pauseMs: 0 };
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
      const { status, headers } = response;
      const error = status >= 200 && status < 300 ? "" : `the webhook answered ${status}`;
      return { status, error, pauseMs: Math.min(readRetryAfter(headers) ?? 0, MAX_STATED_PAUSE_MS) };
    } catch {
      return { status: 0, error: "the webhook could not be reached", pauseMs: 0 };
    }
  }
}
