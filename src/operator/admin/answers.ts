import * as z from "zod";
import { HISTORY_MODES } from "../../core/config/history-mode.ts";
import { authFields } from "../../core/config/schemas/account-auth-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../../core/errors/provider-error.ts";
import { ACCOUNT_CONDITIONS, type CooldownView, PROVIDER_HEALTHS } from "../../core/ports/account-status.ts";
import type { AccountTestResult } from "../../core/ports/administration.ts";
import { cacheViewSchema } from "./keys/subject-fields.ts";

/** Common part of the responses to edits. */
export const successSchema = () => z.object({ success: z.literal(true) });

/** Of answers with credentials, which no cache may store. */
export const NO_STORE = { headers: { "cache-control": "no-store" } };

/** Cooldown of one account, caused by its own failures or by its proxy's. */
export const cooldownSchema = () =>
  z.object({
    account: z.string(),
    /** The failing proxy; empty: the account itself failed. */
    proxy: z.string(),
    kind: z.enum(PROVIDER_ERROR_KINDS),
    reason: z.string(),
    failures: z.int(),
    /** Unix milliseconds. */
    until: z.int(),
  }) satisfies z.ZodType<CooldownView>;

const rateSchema = () => z.object({ requests: z.int(), succeeded: z.int() });

/** Requests and tests of an account. Times are Unix milliseconds, 0 for never. */
const activitySchema = () =>
  z.object({
    in_flight: z.int(),
    last_used: z.int(),
    last_success: z.int(),
    /** `fault` says which part failed: the account, its proxy or the provider. */
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

/** An account as administrators see it (docs/contract/accounts.md). */
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
    /** Condition of the account after its latest requests and tests. */
    condition: z.enum(ACCOUNT_CONDITIONS),
    /** Id of its provider; empty: the default provider. */
    provider: z.string(),
    /** How it authenticates. Secrets are masked. */
    auth: authFields,
    cooldown: cooldownSchema().nullable(),
    /** What the provider states to be left of its quotas: a share from 0 to 1, and when it resets, Unix milliseconds. */
    quotas: z.array(z.object({ name: z.string(), remaining: z.number(), resets_at: z.number() })).readonly(),
    /** Its requests since the pool started. */
    activity: activitySchema(),
  });
export type AccountView = z.output<ReturnType<typeof accountViewSchema>>;

/**
 * An API key as administrators see it (docs/contract/keys.md, API keys). `id` identifies the key in paths of `/admin/keys`.
 * Times are Unix milliseconds, 0 for unknown and never.
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
    /** Only its digest and its last four characters are stored. */
    hashed: z.boolean(),
    /** End of the grace period in which the secret before the rotation still works. */
    grace_until: z.int(),
    /** Ids; empty: none. */
    team: z.string(),
    user: z.string(),
    limits: z.looseObject({}),
    models: z.array(z.string()),
    dialects: z.array(z.string()),
    networks: z.array(z.string()),
    allowed_tags: z.array(z.string()),
    guardrails: z.array(z.string()),
    /** What history and captures keep. */
    history: z.enum(HISTORY_MODES),
    cache: cacheViewSchema(),
  });
export type KeyView = z.output<ReturnType<typeof keyViewSchema>>;

/** A proxy as administrators see it (docs/contract/accounts.md, Proxies). The response never contains the password. */
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

/** Result of one account's test. `response_time` is in milliseconds. */
export const accountTestResultSchema = () =>
  z.object({
    account: z.string(),
    success: z.boolean(),
    response_time: z.int(),
    message: z.string(),
    model: z.string(),
    session_count: z.number(),
  }) satisfies z.ZodType<AccountTestResult>;

/** The health of a provider. */
export const providerHealthSchema = () =>
  z.object({
    health: z.enum(PROVIDER_HEALTHS),
    /** The last failure, `at` in Unix milliseconds; null: none for ten minutes. */
    last_error: z.object({ reason: z.string(), at: z.int() }).nullable(),
  });
