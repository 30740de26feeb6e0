import type { TokenType } from "../../core/ports/pool-configuration.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { OpenWebSocket } from "../../core/ports/web-socket.ts";
import type { RetryBudget } from "../../core/retries/retry-budget.ts";
import type { RetryKind } from "../../core/retries/retry-policy.ts";

/** The account, or the pass-through caller, on whose behalf a request is sent. */
export interface UpstreamAccount {
  /** The account's token, or the caller's own token. */
  readonly token: string;
  readonly fetch: Fetch;
  /** Opens a WebSocket to the provider. Throws a `GatewayError` 501 if the account has a proxy. */
  readonly openSocket?: OpenWebSocket;
  /** What `token` is. Absent: an API key, or the token of a sign-in. With `aws_keys` it is empty, and `fetch` signs. */
  readonly tokenType?: TokenType;
  /** Decides whether a failed call is repeated. Absent: the gateway's own background work, whose calls are not limited. */
  readonly retries?: RetryBudget;
}

/** Whether a failed call of the provider's API may be repeated. */
export function mayRepeatCall({ retries }: UpstreamAccount, kind: RetryKind, error: unknown): boolean {
  return retries === undefined || retries.take(kind, error);
}
