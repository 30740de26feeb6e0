import { GatewayError } from "../errors/gateway-error.ts";
import { clientLeft } from "../http/departure.ts";
import type { RefusalReason } from "../platform/accounts.ts";

/** The pool granted no account. Another provider may have one. */
export class NoSlot extends GatewayError {
  /** Whether a longer wait might have helped. */
  readonly busy: boolean;

  constructor(message: string, busy: boolean) {
    super(429, message, { code: "concurrency_limit_exceeded" });
    this.busy = busy;
  }
}

/**
 * The caller's error when the pool grants no slot: 503 if the provider is down, 499 if the client left, else 429 without
 * `Retry-After` (contract, Errors).
 */
export function refusal(reason: RefusalReason, target: string | null): GatewayError {
  switch (reason) {
    case "target_not_found":
      return new GatewayError(
        429,
        `the target account ${JSON.stringify(target)} does not exist or is disabled`,
        {
          code: "target_account_not_found",
        },
      );
    case "no_accounts":
      return new NoSlot("no provider account is available", false);
    case "queue_full":
      return new NoSlot("all accounts are busy and the waiting queue is full", true);
    case "queue_timeout":
      return new NoSlot("no account became free in time", true);
    case "provider_down":
      return new GatewayError(503, "the provider is down", { code: "upstream_unavailable" });
    case "cancelled":
      return clientLeft();
    case "limited":
      return new GatewayError(429, "the key has used what it may", { code: "rate_limit_exceeded" });
  }
}
