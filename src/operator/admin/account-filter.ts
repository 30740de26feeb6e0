import * as z from "zod";
import type { Config } from "../../core/config/schema.ts";
import { lazyObject, once } from "../../core/encoding/lazy-schema.ts";
import {
  ACCOUNT_CONDITIONS,
  type AccountCondition,
  type AccountHealth,
} from "../../core/ports/account-status.ts";
import type { Context } from "../../core/ports/context.ts";
import { accountIdentifiers } from "./account-identifiers.ts";
import { readHealthById } from "./config-view.ts";

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
const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);

/** Returns the indexes of the matching accounts in the requested order, and the health of all accounts if it was read. */
export async function selectAccounts(
  context: Context,
  config: Config,
  { q, health: conditions, proxy_id: proxy, provider: owner, sort }: AccountFilter,
): Promise<{ readonly places: readonly number[]; readonly health?: Map<string, AccountHealth> }> {
  const needle = q.trim().toLowerCase();
  const ids = await accountIdentifiers(config);
  const needsHealth = conditions.length > 0 || sort === "health" || sort === "used";
  const health = needsHealth ? await readHealthById(context) : undefined;
  const healthAt = (place: number) => health?.get(ids[place] ?? "");
  const places: number[] = [];
  for (const [place, { email, mobile, name, remark, proxy_id, provider = "" }] of config.accounts.entries()) {
    const texts = [ids[place] ?? "", email, mobile, name, remark];
    if (!texts.some((text) => text.toLowerCase().includes(needle))) continue;
    if (proxy !== undefined && proxy_id !== proxy) continue;
    if (owner !== undefined && provider !== owner) continue;
    if (conditions.length > 0 && !conditions.includes(healthAt(place)?.condition ?? "untested")) continue;
    places.push(place);
  }
  if (sort === "name") {
    const name = (place: number) => config.accounts[place]?.name || (ids[place] ?? "");
    places.sort((one, other) => (name(one) < name(other) ? -1 : 1));
  }
  if (sort === "proxy" || sort === "provider") {
    const titles = new Map(config.proxies.map(({ id, name, host }) => [id, name || host]));
    const title = (place: number) => {
      const { proxy_id = "", provider = "" } = config.accounts[place] ?? {};
      return sort === "provider" ? provider : (titles.get(proxy_id) ?? proxy_id);
    };
    places.sort((one, other) => compare(title(one), title(other)));
  }
  if (sort === "used") {
    places.sort(
      (one, other) => (healthAt(other)?.activity.lastUsed ?? 0) - (healthAt(one)?.activity.lastUsed ?? 0),
    );
  }
  if (sort === "health") {
    const urgency = (place: number) => URGENCY.indexOf(healthAt(place)?.condition ?? "untested");
    places.sort((one, other) => urgency(one) - urgency(other));
  }
  return health === undefined ? { places } : { places, health };
}
