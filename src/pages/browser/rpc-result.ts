import { type ErrorCode, GatewayError } from "../../core/errors/gateway-error.ts";
import { toGatewayError } from "./failures.ts";

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

/** Converts an outcome to a form that can cross RPC. */
export async function toRpcResult<T>(work: Promise<T>): Promise<RpcResult<T>> {
  try {
    return { ok: true, value: await work };
  } catch (error) {
    const { status, code, message, param, headers } = toGatewayError(error);
    return { ok: false, failure: { status, code, message, param, headers } };
  }
}

/** Converts the outcome back on the other side of the RPC. Throws the original error. */
export function fromRpcResult<T>(answer: RpcResult<T>): T {
  if (answer.ok) return answer.value;
  const { status, message, ...options } = answer.failure;
  throw new GatewayError(status, message, options);
}
