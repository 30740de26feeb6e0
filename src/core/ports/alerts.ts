import type { Awaitable } from "./awaitable.ts";

/** All kinds of alerts. */
export const ALERT_KINDS = [
  "error_rate",
  "queue_depth",
  "cooling_accounts",
  "empty_pool",
  "budget",
  "sync_failed",
  "provider_down",
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

/** A condition that operators should know about. Contains no secret. */
export interface Alert {
  readonly kind: AlertKind;
  /** The affected item, for kinds that can have several. */
  readonly subject: string;
  /** Text for people. */
  readonly message: string;
  readonly value: number;
  readonly threshold: number;
}

/** Delivery of one alert to one webhook, with all of its retries. Times are Unix milliseconds. */
export interface AlertDelivery {
  readonly at: number;
  /** The webhook's id. */
  readonly webhook: string;
  readonly kind: AlertKind | "test";
  readonly message: string;
  readonly attempts: number;
  /** Empty if delivered. */
  readonly error: string;
  /** True if a retry is scheduled. */
  readonly pending: boolean;
}

/** Current alerts and deliveries. `since` is in Unix milliseconds. */
export interface AlertStatus {
  readonly firing: readonly (Alert & { readonly since: number })[];
  /** Newest first. */
  readonly deliveries: readonly AlertDelivery[];
}

/** The result of a test delivery. */
export interface AlertTestResult {
  readonly success: boolean;
  /** HTTP status of the webhook's response; 0 if there was none. */
  readonly status: number;
  readonly message: string;
}

/** Watches the deployment and sends alerts. Each deployment has one. */
export interface AlertWatcher {
  /** Starts the periodic checks unless they already run. They continue as long as a webhook is active. */
  startChecks(): Awaitable<void>;
  /** Reports an event. */
  reportAlert(alert: Alert): Awaitable<void>;
  /** Sends a test message to a webhook and waits for the result; null if the webhook does not exist. */
  sendTestAlert(webhook: string): Awaitable<AlertTestResult | null>;
  getStatus(): Awaitable<AlertStatus>;
}
