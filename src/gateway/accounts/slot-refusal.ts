import { GatewayError } from "../../core/errors/gateway-error.ts";
import { clientDisconnected } from "../../core/http/client-disconnect.ts";
import type { RefusalReason } from "../../core/ports/accounts.ts";

/** The pool granted no account. Another provider may have one. */
export class NoSlotError extends GatewayError {
  /** Whether a longer wait might have helped. */
  readonly isBusy: boolean;

  constructor(message: string, isBusy: boolean) {
    super(429, message, { code: "concurrency_limit_exceeded" });
    this.isBusy = isBusy;
  }
}

/**
 * The caller's error when the pool grants no slot: 503 if the provider is down, 499 if the client left, else 429 without
 * `Retry-After` (docs/contract/errors.md).
 */
export function createRefusalError(reason: RefusalReason, target: string | null): GatewayError {
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
      return new NoSlotError("no provider account is available: none is configured and enabled", false);
    case "queue_full":
      return new NoSlotError("all accounts are busy and the waiting queue is full", true);
    case "queue_timeout":
      return new NoSlotError("no account became free in time", true);
    case "provider_down":
      return new GatewayError(503, "the provider is down: it failed several times, and is tried again soon", {
        code: "upstream_unavailable",
      });
    case "cancelled":
      return clientDisconnected();
    case "limited":
      return new GatewayError(429, "a limit of the key is reached", { code: "rate_limit_exceeded" });
  }
}
