import type { Config } from "../../../core/config/schema.ts";
import { type Account, accountSchema } from "../../../core/config/schemas/account-schema.ts";
import { maskText } from "../../../core/config/secret-masking.ts";
import type { AccountActivity, AccountHealth } from "../../../core/ports/account-status.ts";
import type { Context } from "../../../core/ports/context.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import type { AccountView } from "../answers.ts";
import { authView } from "./account-auth.ts";

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
