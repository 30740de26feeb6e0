import type { Format, Step } from "./steps.ts";

/** What the provider answers, as plain data. */
export type Reply =
  | { readonly kind: "json"; readonly status: number; readonly text: string }
  | {
      readonly kind: "stream";
      /** To be reported when the stream is over. */
      readonly id: string;
      readonly steps: readonly Step[];
      readonly format: Format;
      /** Milliseconds to wait before the response's headers. */
      readonly late: number;
    };

const STATUS: Readonly<Record<string, number>> = {
  invalid_credentials: 401,
  token_expired: 401,
  account_suspended: 403,
  rate_limited: 429,
  not_found: 404,
  too_large: 413,
  model_unavailable: 503,
  invalid_request: 400,
};

const json = (status: number, value: unknown): Reply => ({
  kind: "json",
  status,
  text: JSON.stringify(value),
});

/** 200 with a JSON body. */
export const ok = (value: unknown): Reply => json(200, value);

/** 201 with a JSON body. */
export const created = (value: unknown): Reply => json(201, value);

/** 204 without a body. */
export const noContent = (): Reply => ({ kind: "json", status: 204, text: "" });

/** An error of the protocol; the status follows from the code unless given. */
export const refuse = (code: string, message: string, status = STATUS[code] ?? 400): Reply =>
  json(status, { error: { code, message } });

/** An event stream. */
export const stream = (id: string, steps: readonly Step[], format: Format, late: number): Reply => ({
  kind: "stream",
  id,
  steps,
  format,
  late,
});
