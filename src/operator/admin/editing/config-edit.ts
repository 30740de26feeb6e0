import { hashKeys, keyIdentifier, removeDuplicateKeys } from "../../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import type { ConfigSnapshot, EditNote } from "../../../core/config/snapshot.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { assertIfMatch, entryEtag } from "../etag.ts";
import { createAuditNote } from "./audit-recording.ts";
import { updateCacheEpochs } from "./cached-answers.ts";
import { diffConfigs } from "./config-diff.ts";
import { assertReferences } from "./config-references.ts";
import { rejectHugeNumbers } from "./number-bounds.ts";
import { assertSecretsStay } from "./secret-audience.ts";
import { rejectUnusableValues } from "./unusable-values.ts";

/** See {@link editConfig}. */
export interface EditOptions {
  readonly keep?: boolean;
  readonly anyVersion?: boolean;
  readonly isRestored?: boolean;
  readonly entry?: ((config: Config) => unknown) | undefined;
}

/** Checks `If-Match` against the configuration that an edit starts from. */
async function assertEditedVersion(
  request: Request,
  config: Config,
  version: number,
  entry: EditOptions["entry"],
): Promise<void> {
  if (entry === undefined) return assertIfMatch(request, version);
  // A missing entry is 404, whatever the header says (RFC 9110, 13.2.1).
  const stored = await entry(config);
  return assertIfMatch(request, version, () => entryEtag(config, stored));
}

/**
 * Edits the configuration. With concurrent edits `change` may run more than once. If `change` throws, nothing is stored and
 * the error is rethrown.
 *
 * @param keep saves the previous configuration for a later restore; for large changes
 * @param anyVersion skips the `If-Match` check, because the caller has done it
 * @param isRestored the result was stored earlier: numbers that were valid then stay valid
 * @param entry finds the stored entry that the request addresses, so that `If-Match` may name its tag; throws 404
 * @throws GatewayError 400 that names the field if the result is invalid, 409 if the configuration is read-only, 412 if
 *   `If-Match` names another version.
 */
export function editConfig(
  context: Context,
  change: (config: Config) => Config | Promise<Config>,
  { keep = false, anyVersion = false, isRestored = false, entry }: EditOptions = {},
): Promise<ConfigSnapshot> {
  const store = context.platform.configuration;
  const createNote = async (before: Config, after: Config): Promise<EditNote | null> => {
    const { changes, more } = await diffConfigs(before, after);
    if (changes.length === 0) return null;
    const forgetsKeys = after.callers.keys_hashed && !before.callers.keys_hashed;
    return { ...createAuditNote(context), changes, more, keep, forget: forgetsKeys };
  };
  const stored = store.update(async (config, version) => {
    if (!anyVersion) await assertEditedVersion(context.request, config, version, entry);
    const parsed = parseWith(configSchema, await change(config));
    const changed = await updateCacheEpochs(config, parsed, context.platform.now());
    const { administratorRole = "owner" } = context.facts;
    const { providerBaseUrl } = context.platform.variables;
    if (administratorRole !== "owner") assertSecretsStay(config, changed, providerBaseUrl ?? "");
    assertStorable(config, changed, isRestored);
    await assertUniqueIds(config, changed);
    return changed.callers.keys_hashed ? hashKeys(changed) : changed;
  }, createNote);
  // Edits wait in one queue. An edit must finish even if its client disconnects.
  context.waitUntil(stored.catch(() => undefined));
  return stored;
}

/**
 * Checks what an edit changes.
 *
 * @param isRestored see {@link editConfig}
 * @throws GatewayError 400 that names the field
 */
export function assertStorable(before: Config, after: Config, isRestored = false): void {
  assertReferences(before, after);
  rejectUnusableValues(before, after);
  if (!isRestored) rejectHugeNumbers(before, after);
}

/** Returns the indexes of ids that occur earlier in the list. */
function findRepeated(ids: readonly string[]): number[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => (seen.size === seen.add(id).size ? index : []));
}

/** Returns the identifiers of the distinct keys. */
async function keyIdentifiers({ api_keys }: Config): Promise<string[]> {
  // Derived identifiers differ whenever the keys differ.
  if (api_keys.every(({ id }) => id === undefined)) return [];
  return Promise.all((await removeDuplicateKeys(api_keys)).map(keyIdentifier));
}

/** Rejects new duplicate ids, because entries with the same id cannot be distinguished. */
async function assertUniqueIds(before: Config, after: Config): Promise<void> {
  const proxyIds = ({ proxies }: Config) => proxies.map(({ id }) => id);
  const providerIds = ({ providers }: Config) => providers.map(({ id }) => id.toLowerCase());
  for (const [listIds, kind, field] of [
    [async (config: Config) => proxyIds(config), "proxy", "proxies"],
    [async (config: Config) => providerIds(config), "provider", "providers"],
    [keyIdentifiers, "key", "api_keys"],
    [async (config: Config) => config.teams.map(({ id }) => id), "team", "teams"],
    [async (config: Config) => config.users.map(({ id }) => id), "user", "users"],
    [async (config: Config) => config.administrators.map(({ id }) => id), "administrator", "administrators"],
    [async (config: Config) => config.tags.map(({ id }) => id), "tag", "tags"],
  ] as const) {
    const [duplicate] = findRepeated(await listIds(after));
    if (duplicate === undefined || findRepeated(await listIds(before)).length > 0) continue;
    const param = `${field}[${duplicate}].id`;
    throw invalidRequest(`${param}: another ${kind} has this id`, param);
  }
}
