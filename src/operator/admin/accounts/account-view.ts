import * as z from "zod";
import { maskText } from "../../../core/config/marked-secrets.ts";
import type { Config } from "../../../core/config/schema.ts";
import { authFields } from "../../../core/config/schemas/account-auth-schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../../../core/errors/provider-error.ts";
import {
  ACCOUNT_CONDITIONS,
  type AccountActivity,
  type AccountHealth,
  type CooldownView,
} from "../../../core/ports/account-status.ts";
import type { Context } from "../../../core/ports/context.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import { authView } from "./account-auth.ts";

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

const NO_REQUESTS = { requests: 0, succeeded: 0 };

function activityView(activity?: AccountActivity): AccountView["activity"] {
  return {
    in_flight: activity?.inFlight ?? 0,
    last_used: activity?.lastUsed ?? 0,
    last_success: activity?.lastSuccess ?? 0,
    last_fault: activity?.lastFault ?? null,
    last_hour: activity?.hour ?? NO_REQUESTS,
    last_day: activity?.day ?? NO_REQUESTS,
  };
}

/** The masked view of an account. `health` comes from the pool. */
function accountView(account: Account, identifier: string, health?: AccountHealth): AccountView {
  const { email, mobile, name, remark, proxy_id } = account;
  const token = health?.token ?? account.token;
  return {
    identifier,
    email,
    mobile,
    has_password: account.password !== "",
    has_token: token !== "",
    token_preview: maskText(accountSchema.shape.token, account.auth?.access_key_id ?? token),
    test_status: health?.testStatus ?? "",
    name,
    remark,
    proxy_id,
    disabled: account.disabled,
    weight: account.weight,
    condition: health?.condition ?? (account.disabled ? "disabled" : "untested"),
    provider: account.provider ?? "",
    auth: authView(account),
    cooldown: health?.cooldown ?? null,
    quotas: health?.quotas ?? [],
    activity: activityView(health?.activity),
  };
}

/** Reads the pool's health data of the named accounts, or of all. */
export async function readHealthById(
  { platform }: Context,
  ids?: readonly string[],
): Promise<Map<string, AccountHealth>> {
  const entries = ids?.length === 0 ? [] : await platform.accounts.getHealth(ids);
  return new Map(entries.map((entry) => [entry.id, entry]));
}

/**
 * Returns the views of a configuration's accounts, in order. `places`: only the accounts with these indexes. `all`: health
 * data that was already read.
 */
export async function accountViews(
  context: Context,
  config: Config,
  places?: readonly number[],
  all?: ReadonlyMap<string, AccountHealth>,
): Promise<AccountView[]> {
  const names = await accountIdentifiers(config);
  const indexes = places ?? config.accounts.map((_, index) => index);
  const ids = indexes.flatMap((index) => names[index] ?? []);
  const health = all ?? (await readHealthById(context, places === undefined ? undefined : ids));
  return indexes.flatMap((index) => {
    const account = config.accounts[index];
    const id = names[index] ?? "";
    return account === undefined ? [] : [accountView(account, id, health.get(id))];
  });
}
