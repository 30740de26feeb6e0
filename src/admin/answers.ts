import * as z from "zod";
import { PROVIDER_ERROR_KINDS } from "../errors/provider-error.ts";
import { ACCOUNT_CONDITIONS, type CooldownView } from "../platform/account-status.ts";
import type { AccountTestResult } from "../platform/administration.ts";

/** What an edit answers at the least. */
export const successSchema = () => z.object({ success: z.literal(true) });

/** One account that cools down, for failures of its own or of its proxy. */
export const cooldownSchema = () =>
  z.object({
    account: z.string(),
    /** The proxy that fails; empty: the account itself. */
    proxy: z.string(),
    kind: z.enum(PROVIDER_ERROR_KINDS),
    reason: z.string(),
    failures: z.int(),
    /** Unix milliseconds. */
    until: z.int(),
  }) satisfies z.ZodType<CooldownView>;

const rateSchema = () => z.object({ requests: z.int(), succeeded: z.int() });

/** How an account has done, tests included. Times are Unix milliseconds, 0 for never. */
const activitySchema = () =>
  z.object({
    in_flight: z.int(),
    last_used: z.int(),
    last_success: z.int(),
    /** `fault` is who was at fault: the account, its proxy or the provider. */
    last_fault: z
      .object({
        kind: z.enum(PROVIDER_ERROR_KINDS),
        reason: z.string(),
        fault: z.enum(["account", "proxy", "provider"]),
        at: z.int(),
      })
      .nullable(),
    last_hour: rateSchema(),
    last_day: rateSchema(),
  });

/** An account as administrators see it (contract, Accounts); all from `disabled` on goes beyond it. */
export const accountViewSchema = () =>
  z.object({
    identifier: z.string(),
    email: z.string(),
    mobile: z.string(),
    has_password: z.boolean(),
    has_token: z.boolean(),
    token_preview: z.string(),
    test_status: z.string(),
    name: z.string(),
    remark: z.string(),
    proxy_id: z.string(),
    disabled: z.boolean(),
    weight: z.int(),
    /** How it is, by its requests and tests; the newest counts. */
    condition: z.enum(ACCOUNT_CONDITIONS),
    /** The provider that it belongs to; empty: the default one. */
    provider: z.string(),
    cooldown: cooldownSchema().nullable(),
    /** What its requests have come to since the pool was started. */
    activity: activitySchema(),
  });
export type AccountView = z.output<ReturnType<typeof accountViewSchema>>;

/**
 * An API key as administrators see it (contract, API keys; all but `key`, `name` and `remark` goes beyond it). `id` stands for
 * the key in the paths of `/admin/keys`. Times are Unix milliseconds, 0 for unknown and never.
 */
export const keyViewSchema = () =>
  z.object({
    key: z.string(),
    id: z.string(),
    name: z.string(),
    remark: z.string(),
    created: z.int(),
    expires: z.int(),
    disabled: z.boolean(),
    /** Only its digest and its last four characters are kept. */
    hashed: z.boolean(),
    /** Until when what it was before it was rotated works as well. */
    grace_until: z.int(),
    limits: z.looseObject({}),
    models: z.array(z.string()),
    dialects: z.array(z.string()),
    networks: z.array(z.string()),
  });
export type KeyView = z.output<ReturnType<typeof keyViewSchema>>;

/** A proxy as administrators see it (contract, Proxies): the password never leaves. */
export const proxyViewSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    type: z.enum(["http", "socks5"]),
    host: z.string(),
    port: z.int(),
    username: z.string(),
    has_password: z.boolean(),
  });
export type ProxyView = z.output<ReturnType<typeof proxyViewSchema>>;

/** One account's outcome in a test. `response_time` is in milliseconds. */
export const accountTestResultSchema = () =>
  z.object({
    account: z.string(),
    success: z.boolean(),
    response_time: z.int(),
    message: z.string(),
    model: z.string(),
    session_count: z.number(),
  }) satisfies z.ZodType<AccountTestResult>;
