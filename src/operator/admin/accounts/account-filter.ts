import * as z from "zod";
import type { Config } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import {
  ACCOUNT_CONDITIONS,
  type AccountCondition,
  type AccountHealth,
} from "../../../core/ports/account-status.ts";
import type { Context } from "../../../core/ports/context.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import { readHealthById } from "./account-view.ts";

/** Query parameters that filter and sort a list of accounts. */
export const accountFilterShape = once(() => ({
  /** Text to find in identifier, e-mail, mobile, name or remark. */
  q: z.string().default(""),
  /** Conditions, separated by commas. An account matches if it has any of them. */
  health: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((part) => part.trim()))
    .transform((parts) => parts.filter((part) => part !== ""))
    .pipe(z.array(z.enum(ACCOUNT_CONDITIONS))),
  /** Id of the bound proxy; empty: accounts without a proxy. */
  proxy_id: z.string().trim().optional(),
  /** Id of the provider; empty: accounts of the default provider. */
  provider: z.string().trim().optional(),
  /**
   * `health`: accounts with problems first. `used`: the most recently used first. `proxy`, `provider`: accounts without one
   * first. Default: the order of the configuration.
   */
  sort: z.enum(["", "name", "health", "used", "proxy", "provider"]).default(""),
}));

const filterSchema = lazyObject(accountFilterShape);
type AccountFilter = z.output<typeof filterSchema>;

/** Order of the `health` sort: accounts with problems first. */
const URGENCY: readonly AccountCondition[] = ["failing", "cooling", "untested", "disabled", "ok"];

/** Compares two texts. Returns 0 for equal texts, so that a stable sort keeps their order. */
const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);

/** Returns the indexes of the matching accounts in the requested order, and the health of all accounts if it was read. */
export async function selectAccounts(
  context: Context,
  config: Config,
  { q, health: conditions, proxy_id: proxy, provider: providerId, sort }: AccountFilter,
): Promise<{ readonly places: readonly number[]; readonly health?: Map<string, AccountHealth> }> {
  const needle = q.trim().toLowerCase();
  const ids = await accountIdentifiers(config);
  const needsHealth = conditions.length > 0 || sort === "health" || sort === "used";
  const health = needsHealth ? await readHealthById(context) : undefined;
  const healthAt = (index: number) => health?.get(ids[index] ?? "");
  const places: number[] = [];
  for (const [index, { email, mobile, name, remark, proxy_id, provider = "" }] of config.accounts.entries()) {
    const texts = [ids[index] ?? "", email, mobile, name, remark];
    if (!texts.some((text) => text.toLowerCase().includes(needle))) continue;
    if (proxy !== undefined && proxy_id !== proxy) continue;
    if (providerId !== undefined && provider !== providerId) continue;
    if (conditions.length > 0 && !conditions.includes(healthAt(index)?.condition ?? "untested")) continue;
    places.push(index);
  }
  if (sort === "name") {
    const name = (index: number) => config.accounts[index]?.name || (ids[index] ?? "");
    places.sort((a, b) => (name(a) < name(b) ? -1 : 1));
  }
  if (sort === "proxy" || sort === "provider") {
    const titles = new Map(config.proxies.map(({ id, name, host }) => [id, name || host]));
    const title = (index: number) => {
      const { proxy_id = "", provider = "" } = config.accounts[index] ?? {};
      return sort === "provider" ? provider : (titles.get(proxy_id) ?? proxy_id);
    };
    places.sort((a, b) => compare(title(a), title(b)));
  }
  if (sort === "used") {
    places.sort((a, b) => (healthAt(b)?.activity.lastUsed ?? 0) - (healthAt(a)?.activity.lastUsed ?? 0));
  }
  if (sort === "health") {
    const urgency = (index: number) => URGENCY.indexOf(healthAt(index)?.condition ?? "untested");
    places.sort((a, b) => urgency(a) - urgency(b));
  }
  return health === undefined ? { places } : { places, health };
}
