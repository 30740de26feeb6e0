import type { Config } from "../../../core/config/schema.ts";
import type { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { formatEtag } from "../etag.ts";
import { editConfig } from "./config-edit.ts";

/** A list of the configuration, for example the teams. Administrators add, change and delete its entries one by one. */
export interface EntryList<Entry> {
  readonly read: (config: Config) => readonly Entry[];
  readonly write: (config: Config, entries: Entry[]) => Config;
  readonly getId: (entry: Entry) => string;
  /** Throws 404 for an unknown id. */
  readonly find: (config: Config, id: string) => Entry;
  /** Creates the error 409 for the id of another entry. */
  readonly createConflict: (id: string) => GatewayError;
  /** Two ids that differ only in case are the same. */
  readonly ignoresCase?: true;
  /** Throws if a change or a deletion must not lead from `before` to `after`. */
  readonly assertAllowed?: (context: Context, before: Config, after: Config) => void;
}

/** Whether one of the entries has the id. */
export function isIdTaken<Entry>(
  { getId, ignoresCase }: EntryList<Entry>,
  entries: readonly Entry[],
  id: string,
): boolean {
  const normalize = (text: string) => (ignoresCase === true ? text.toLowerCase() : text);
  return entries.some((entry) => normalize(getId(entry)) === normalize(id));
}

/**
 * Adds an entry. Returns the configuration with it.
 *
 * @throws GatewayError 409 if another entry has its id; see {@link editConfig} for further errors.
 */
export async function addEntry<Entry>(
  context: Context,
  list: EntryList<Entry>,
  entry: Entry,
): Promise<Config> {
  const { config } = await editConfig(context, (current) => {
    const id = list.getId(entry);
    if (isIdTaken(list, list.read(current), id)) throw list.createConflict(id);
    return list.write(current, [...list.read(current), entry]);
  });
  return config;
}

/**
 * Changes an entry. Returns the configuration with the change.
 *
 * @param change returns the changed entry; with concurrent edits it may run more than once
 * @throws GatewayError 404 for an unknown id, 412 if `If-Match` names another version; see {@link editConfig}.
 */
export async function changeEntry<Entry>(
  context: Context,
  list: EntryList<Entry>,
  id: string,
  change: (entry: Entry, config: Config) => Entry,
): Promise<Config> {
  const find = (config: Config) => list.find(config, id);
  const edit = (current: Config): Config => {
    const changed = change(find(current), current);
    const entries = list.read(current).map((entry) => (list.getId(entry) === id ? changed : entry));
    const after = list.write(current, entries);
    list.assertAllowed?.(context, current, after);
    return after;
  };
  const { config } = await editConfig(context, edit, { entry: find });
  return config;
}

/**
 * Deletes an entry. The previous configuration can be restored: `headers` name the version for that.
 *
 * @param prepare returns the configuration without references to the entry, or throws if the entry must stay
 * @throws GatewayError as {@link changeEntry}
 */
export async function deleteEntry<Entry>(
  context: Context,
  list: EntryList<Entry>,
  id: string,
  prepare: (config: Config, entry: Entry) => Config = (config) => config,
): Promise<{ total: number; headers: { etag: string } }> {
  const find = (config: Config) => list.find(config, id);
  const edit = (current: Config): Config => {
    const prepared = prepare(current, find(current));
    const after = list.write(
      prepared,
      list.read(prepared).filter((entry) => list.getId(entry) !== id),
    );
    list.assertAllowed?.(context, current, after);
    return after;
  };
  const { config, version } = await editConfig(context, edit, { keep: true, entry: find });
  return { total: list.read(config).length, headers: { etag: formatEtag(version) } };
}
