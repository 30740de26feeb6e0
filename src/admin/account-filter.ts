import * as z from "zod";
import type { Config } from "../config/schema.ts";
import { lazyObject, once } from "../encoding/lazy-schema.ts";
import { ACCOUNT_CONDITIONS, type AccountCondition, type AccountHealth } from "../platform/account-status.ts";
import type { Context } from "../platform/context.ts";
import { healthById } from "./config-view.ts";
import { identifiers } from "./identifiers.ts";

/** How a list of accounts is narrowed down and ordered. */
export const accountFilterShape = once(() => ({
  /** Text in identifier, e-mail, mobile, name or remark. */
  q: z.string().default(""),
  /** How they are, with commas between; any of them will do. */
  health: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((part) => part.trim()))
    .transform((parts) => parts.filter((part) => part !== ""))
    .pipe(z.array(z.enum(ACCOUNT_CONDITIONS))),
  /** The proxy that they are bound to; empty: none. */
  proxy_id: z.string().trim().optional(),
  /** The provider that they belong to; empty: the default one. */
  provider: z.string().trim().optional(),
  /** `health`: those that need a look first; `used`: those used last first; `proxy`, `provider`: those without one first. Else they are in the configuration's order. */
  sort: z.enum(["", "name", "health", "used", "proxy", "provider"]).default(""),
}));

const filterSchema = lazyObject(accountFilterShape);
type AccountFilter = z.output<typeof filterSchema>;

/** What needs a look comes first. */
const URGENCY: readonly AccountCondition[] = ["failing", "cooling", "untested", "disabled", "ok"];

/** Equal ones keep their order. */
const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);

/** Places of the accounts that fit, in the order that is asked for; and what the pool knows of all, if that was needed. */
export async function matchingAccounts(
  context: Context,
  config: Config,
  { q, health: conditions, proxy_id: proxy, provider: owner, sort }: AccountFilter,
): Promise<{ readonly places: readonly number[]; readonly health?: Map<string, AccountHealth> }> {
  const needle = q.trim().toLowerCase();
  const ids = await identifiers(config);
  const asksPool = conditions.length > 0 || sort === "health" || sort === "used";
  const health = asksPool ? await healthById(context) : undefined;
  const of = (place: number) => health?.get(ids[place] ?? "");
  const places: number[] = [];
  for (const [place, { email, mobile, name, remark, proxy_id, provider = "" }] of config.accounts.entries()) {
    const texts = [ids[place] ?? "", email, mobile, name, remark];
    if (!texts.some((text) => text.toLowerCase().includes(needle))) continue;
    if (proxy !== undefined && proxy_id !== proxy) continue;
    if (owner !== undefined && provider !== owner) continue;
    if (conditions.length > 0 && !conditions.includes(of(place)?.condition ?? "untested")) continue;
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
    places.sort((one, other) => (of(other)?.activity.lastUsed ?? 0) - (of(one)?.activity.lastUsed ?? 0));
  }
  if (sort === "health") {
    const urgency = (place: number) => URGENCY.indexOf(of(place)?.condition ?? "untested");
    places.sort((one, other) => urgency(one) - urgency(other));
  }
  return health === undefined ? { places } : { places, health };
}
