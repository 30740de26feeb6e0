import type { ErrorCode } from "../../errors/gateway-error.ts";

/** Bytes that an outcome may have: a message between two objects may have 32 MiB. */
export const MAX_BYTES = 30_000_000;

/** A failure as it crosses the border, where classes are lost. */
export interface PageFailure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the browser's object answers. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: PageFailure };
