import * as z from "zod";
import { keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import { findMemberSchema, maskMarkedSecrets } from "../../../core/config/marked-secrets.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import type { FieldChange } from "../../../core/config/snapshot.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { accountIdentifiers } from "../account-identifiers.ts";

const MAX_CHANGES = 50;
const MAX_VALUE_CHARS = 200;

/** Schema of a value; undefined: this version does not know the field. */
type Schema = z.core.$ZodType | undefined;

/** Fields that administrators never edit themselves. */
const INTERNAL_FIELDS = new Set(["admin.jwt_secret", "sync.hash"]);

/** Schema of the result of {@link diffConfigs}. Values are masked JSON; null: no value. */
export const diffShape = () => ({
  changes: z.array(
    z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
  /** Number of changes that are not listed. */
  more: z.int(),
  /** Names of all removed entries of lists and tables, by their path, such as `accounts`. */
  removed: z.array(z.object({ path: z.string(), names: z.array(z.string()) })),
});

type ConfigDiff = z.output<z.ZodObject<ReturnType<typeof diffShape>>>;

/** Tables whose members are entries with names. */
const TABLES = new Set(["model_aliases", "model_routes", "prices", "cache.models"]);

/** Lists whose order matters. */
const ORDERED = new Set(["guardrails.rules"]);

/** Returns the configuration with its lists indexed by the ids of their entries. */
async function indexLists(config: Config): Promise<Record<string, unknown>> {
  const { keys: _keys, alerts, guardrails, ...rest } = config;
  const entries = listApiKeys(config);
  const byName = (names: readonly string[], list: readonly object[]) =>
    new Map(list.map((entry, index) => [names[index] ?? "", entry]));
  const byId = (list: readonly { readonly id: string }[]) => new Map(list.map((entry) => [entry.id, entry]));
  return {
    ...rest,
    api_keys: byName(await Promise.all(entries.map(keyIdentifier)), entries),
    teams: byId(config.teams),
    users: byId(config.users),
    tags: byId(config.tags),
    administrators: byId(config.administrators),
    accounts: byName(await accountIdentifiers(config), config.accounts),
    proxies: byId(config.proxies),
    providers: byId(config.providers),
    alerts: { ...alerts, webhooks: byId(alerts.webhooks) },
    guardrails: { ...guardrails, rules: byId(guardrails.rules) },
  };
}

/** Returns a value as JSON with masked secrets; null: no value. */
function maskValue(schema: Schema, value: unknown): string | null {
  if (value === undefined) return null;
  if (value instanceof Map) return JSON.stringify([...value.keys()]);
  const masked = JSON.stringify(maskMarkedSecrets(schema, value));
  return masked.length <= MAX_VALUE_CHARS ? masked : masked.slice(0, MAX_VALUE_CHARS).toWellFormed();
}

function getMembers(value: unknown): Map<string, unknown> | null {
  if (value instanceof Map) return value;
  return isObject(value) ? new Map(Object.entries(value)) : null;
}

/** Whether the entries that both lists have are in another order. */
function isReordered(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): boolean {
  const kept = [...after.keys()].filter((name) => before.has(name));
  return [...before.keys()].filter((name) => after.has(name)).some((name, index) => name !== kept[index]);
}

function* findChanges(schema: Schema, path: string, before: unknown, after: unknown): Generator<FieldChange> {
  if (INTERNAL_FIELDS.has(path)) return;
  const [oldMembers, newMembers] = [getMembers(before), getMembers(after)];
  if (oldMembers === null || newMembers === null) {
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    yield { path, before: maskValue(schema, before), after: maskValue(schema, after) };
    return;
  }
  if (ORDERED.has(path) && isReordered(oldMembers, newMembers)) {
    yield { path, before: maskValue(schema, before), after: maskValue(schema, after) };
  }
  const isList = before instanceof Map;
  for (const member of new Set([...oldMembers.keys(), ...newMembers.keys()])) {
    const inner = path === "" ? member : isList ? `${path}[${member}]` : `${path}.${member}`;
    yield* findChanges(
      schema && findMemberSchema(schema, member),
      inner,
      oldMembers.get(member),
      newMembers.get(member),
    );
  }
}

/** Lists the entries that a change removes. */
function* findRemoved(
  path: string,
  before: unknown,
  after: unknown,
): Generator<ConfigDiff["removed"][number]> {
  const [oldMembers, newMembers] = [getMembers(before), getMembers(after)];
  if (oldMembers === null || newMembers === null) return;
  if (before instanceof Map || TABLES.has(path)) {
    const names = [...oldMembers.keys()].filter((name) => !newMembers.has(name));
    if (names.length > 0) yield { path, names };
    return;
  }
  for (const [name, member] of oldMembers)
    yield* findRemoved(path === "" ? name : `${path}.${name}`, member, newMembers.get(name));
}

/**
 * Returns the changes between two configurations, with masked secrets.
 *
 * @param maxChanges maximum number of listed changes; `more` counts the others
 */
export async function diffConfigs(
  before: Config,
  after: Config,
  maxChanges = MAX_CHANGES,
): Promise<ConfigDiff> {
  const [oldLists, newLists] = [await indexLists(before), await indexLists(after)];
  const allChanges = [...findChanges(configSchema, "", oldLists, newLists)];
  return {
    changes: allChanges.slice(0, maxChanges),
    more: Math.max(0, allChanges.length - maxChanges),
    removed: [...findRemoved("", oldLists, newLists)],
  };
}
