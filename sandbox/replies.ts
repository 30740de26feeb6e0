import type { Format, Step } from "./steps.ts";

/** A reply of the provider, as plain data. */
export type Reply =
  | { readonly kind: "json"; readonly status: number; readonly text: string }
  | {
      readonly kind: "stream";
      /** Pass this id to the backend when the stream ends. */
      readonly id: string;
      readonly steps: readonly Step[];
      readonly format: Format;
      /** Delay before the response headers, in milliseconds. */
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
export const okReply = (value: unknown): Reply => json(200, value);

/** 201 with a JSON body. */
export const createdReply = (value: unknown): Reply => json(201, value);

/** 204 without a body. */
export const noContentReply = (): Reply => ({ kind: "json", status: 204, text: "" });

/** An error of the protocol. The code determines the status, unless `status` is given. */
export const errorReply = (code: string, message: string, status = STATUS[code] ?? 400): Reply =>
  json(status, { error: { code, message } });

/** An event stream. */
export const streamReply = (id: string, steps: readonly Step[], format: Format, late: number): Reply => ({
  kind: "stream",
  id,
  steps,
  format,
  late,
});
