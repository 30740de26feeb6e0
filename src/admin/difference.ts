import { preview } from "../auth/secrets.ts";
import { allKeys, keyIdentifier } from "../config/api-keys.ts";
import type { Config } from "../config/schema.ts";
import type { FieldChange } from "../config/snapshot.ts";
import { isObject } from "../encoding/json.ts";
import { identifiers } from "./identifiers.ts";

const MAX_CHANGES = 50;
const MAX_VALUE = 200;

/** Fields whose texts are secrets, or may hold them. */
const SECRET = /(?:^|_)(?:password|token|secret|digest|hash|key|url|headers?)$/i;
const HEADER = /^providers\[[^\]]*\]\.headers\./;
/** What nobody has changed by hand. */
const INNER = new Set(["admin.jwt_secret", "sync.hash"]);

/** A configuration with its lists by what their entries are called. */
async function named(config: Config): Promise<Record<string, unknown>> {
  const { keys: _keys, ...rest } = config;
  const entries = allKeys(config);
  const byName = (names: readonly string[], list: readonly object[]) =>
    new Map(list.map((entry, index) => [names[index] ?? "", entry]));
  return {
    ...rest,
    api_keys: byName(await Promise.all(entries.map(keyIdentifier)), entries),
    accounts: byName(await identifiers(config), config.accounts),
    proxies: byName(
      config.proxies.map(({ id }) => id),
      config.proxies,
    ),
    providers: byName(
      config.providers.map(({ id }) => id),
      config.providers,
    ),
  };
}

/** A value without secrets, as JSON; null: there is none. */
function told(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && SECRET.test(name))
    return JSON.stringify(name === "key" ? preview(value) : value && "****");
  if (value instanceof Map) return JSON.stringify([...value.keys()]);
  const masked = JSON.stringify(value, (inner, member: unknown) =>
    typeof member === "string" && SECRET.test(inner) ? member && "****" : member,
  );
  return masked.length <= MAX_VALUE ? masked : masked.slice(0, MAX_VALUE).toWellFormed();
}

function membersOf(value: unknown): Map<string, unknown> | null {
  if (value instanceof Map) return value;
  return isObject(value) ? new Map(Object.entries(value)) : null;
}

function* changesIn(path: string, name: string, before: unknown, after: unknown): Generator<FieldChange> {
  if (INNER.has(path)) return;
  const [old, fresh] = [membersOf(before), membersOf(after)];
  if (old === null || fresh === null) {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    // Headers may be called anything.
    const field = HEADER.test(path) ? "header" : name;
    yield { path, before: told(field, before), after: told(field, after) };
    return;
  }
  const listed = before instanceof Map;
  for (const member of new Set([...old.keys(), ...fresh.keys()])) {
    const inner = path === "" ? member : listed ? `${path}[${member}]` : `${path}.${member}`;
    yield* changesIn(inner, member, old.get(member), fresh.get(member));
  }
}

/** What differs between two configurations, without secrets; `more` counts what is beyond the list. */
export async function difference(
  before: Config,
  after: Config,
): Promise<{ readonly changes: readonly FieldChange[]; readonly more: number }> {
  const all = [...changesIn("", "", await named(before), await named(after))];
  return { changes: all.slice(0, MAX_CHANGES), more: Math.max(0, all.length - MAX_CHANGES) };
}
