import type { ErrorCode } from "../../errors/gateway-error.ts";

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
