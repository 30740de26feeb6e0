import type { Awaitable } from "./awaitable.ts";

/** What alerts are about. */
export const ALERT_KINDS = [
  "error_rate",
  "queue_depth",
  "cooling_accounts",
  "empty_pool",
  "budget",
  "sync_failed",
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

/** Something that people should know. Holds no secret. */
export interface Alert {
  readonly kind: AlertKind;
  /** What it is about, where there are several of the kind. */
  readonly subject: string;
  /** For people. */
  readonly message: string;
  readonly value: number;
  readonly threshold: number;
}

/** One attempt to tell somebody, or several. Times are Unix milliseconds. */
export interface AlertDelivery {
  readonly at: number;
  /** The webhook's id. */
  readonly webhook: string;
  readonly kind: AlertKind | "test";
  readonly message: string;
  readonly attempts: number;
  /** Empty: it has arrived. */
  readonly error: string;
  /** It is tried again. */
  readonly pending: boolean;
}

/** How alerts stand. `firing`: since when, in Unix milliseconds. */
export interface AlertStatus {
  readonly firing: readonly (Alert & { readonly since: number })[];
  /** Newest first. */
  readonly deliveries: readonly AlertDelivery[];
}

/** What came of a test. */
export interface AlertTest {
  readonly success: boolean;
  /** HTTP status of the answer; 0: there was none. */
  readonly status: number;
  readonly message: string;
}

/** Who watches over the deployment. One place a deployment. */
export interface AlertWatcher {
  /** Looks now, and goes on looking for as long as somebody wants to be told. */
  look(): Awaitable<void>;
  /** Something has happened. */
  report(alert: Alert): Awaitable<void>;
  /** Sends a webhook something, and waits for what comes of it; null: there is no such webhook. */
  test(webhook: string): Awaitable<AlertTest | null>;
  status(): Awaitable<AlertStatus>;
}
