import type { ErrorCode } from "../../core/errors/gateway-error.ts";

/** Maximum size of an outcome: an RPC message may have 32 MiB. */
export const MAX_OUTCOME_BYTES = 30_000_000;

/** A failure as plain data, because RPC loses classes. */
export interface PageFailure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answer of the browser's Durable Object. */
export type RpcResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: PageFailure };
