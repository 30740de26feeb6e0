import { addListedModels, selectNewNames } from "../../core/config/provider-models.ts";
import type { ProviderEntry, ProviderModel } from "../../core/config/schemas/provider-schema.ts";
import type { EditNote, FieldChange } from "../../core/config/snapshot.ts";
import { describeForAdministrator } from "../../core/errors/failure-message.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { ModelSyncResult } from "../../core/ports/administration.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { runInParallel } from "../../core/run-in-parallel.ts";
import { HOUR_MS } from "../../core/units.ts";
import { loadProviderKnowledge } from "../models/known-models.ts";
import { createModelDescriber } from "../models/stated-model.ts";
import { isSameDriver } from "../providers/drivers.ts";
import type { OfferedModel } from "../providers/provider.ts";
import { getProvider } from "../providers/provider-registry.ts";
import { withBackgroundAccount } from "./background-account.ts";

const CONCURRENCY = 5;
/** After a failure, the next attempt is after this time, or after the regular interval if that is shorter. */
const RETRY_AFTER_FAILURE_MS = HOUR_MS;
/** Longest wait for a slot, and time limit for the provider's answer, milliseconds. */
const WAIT_MS = 10_000;
const TIMEOUT_MS = 20_000;
const MAX_ERROR = 300;
/** Model names that one audit entry lists. */
const MAX_CHANGES = 50;

/** Platforms with a refresh in progress. */
const refreshingPlatforms = new WeakSet<Platform>();

/**
 * Fetches the model lists of the providers that are due (`models_refresh_hours`), and adds new models according to
 * `new_models`. Models that are already listed stay unchanged, even when the provider no longer offers them. A failed
 * provider changes nothing, and its view shows the error. Call it every few minutes. It never throws for a provider's
 * error.
 *
 * @returns the number of new models
 */
export async function refreshModels(platform: Platform): Promise<number> {
  if (refreshingPlatforms.has(platform)) return 0;
  refreshingPlatforms.add(platform);
  try {
    return await refreshDueProviders(platform);
  } finally {
    refreshingPlatforms.delete(platform);
  }
}

function isDue(
  { models_refresh_hours: hours }: ProviderEntry,
  lastSync: ModelSyncResult | undefined,
  now: number,
): boolean {
  if (lastSync === undefined) return true;
  const interval = hours * HOUR_MS;
  return now - lastSync.at >= (lastSync.error === "" ? interval : Math.min(interval, RETRY_AFTER_FAILURE_MS));
}

async function refreshDueProviders(platform: Platform): Promise<number> {
  const { config } = await platform.configuration.read();
  const scheduled = config.providers.filter(
    ({ enabled, models_refresh_hours }) => enabled && models_refresh_hours > 0,
  );
  // Most deployments have no scheduled provider. They skip the read.
  if (scheduled.length === 0) return 0;
  const syncResults: Record<string, ModelSyncResult> = {};
  const known = await platform.administration.getModelSyncResults();
  const due: ProviderEntry[] = [];
  for (const entry of scheduled) {
    const lastSync = Object.hasOwn(known, entry.id) ? known[entry.id] : undefined;
    if (lastSync !== undefined) syncResults[entry.id] = lastSync;
    if (isDue(entry, lastSync, platform.now())) due.push(entry);
  }
  if (due.length === 0) return 0;
  let added = 0;
  await runInParallel(due, CONCURRENCY, async (entry) => {
    const syncResult = await refreshProvider(platform, entry);
    syncResults[entry.id] = syncResult;
    added += syncResult.added;
  });
  await platform.administration.setModelSyncResults(syncResults);
  return added;
}

async function refreshProvider(platform: Platform, { id }: ProviderEntry): Promise<ModelSyncResult> {
  const at = platform.now();
  try {
    const { config } = await platform.configuration.read();
    const { models } = getProvider(platform, config, id).api;
    if (models === undefined) {
      throw new GatewayError(501, "this provider does not list its models", { code: "unsupported" });
    }
    const acquireOptions = { provider: id, waitMs: WAIT_MS };
    const offered = await withBackgroundAccount(
      platform,
      { purpose: "models", acquireOptions, timeoutMs: TIMEOUT_MS },
      (account, signal) => models.list(account, signal),
    );
    return { at, error: "", added: await addNewModels(platform, id, offered) };
  } catch (error) {
    return { at, error: describeForAdministrator(error).slice(0, MAX_ERROR), added: 0 };
  }
}

/** A provider's models, including the new ones. */
function withNewModels(
  { models, new_models }: ProviderEntry,
  offered: readonly OfferedModel[],
  describe: (name: string) => ProviderModel | null,
): ProviderEntry["models"] {
  const names = offered.map(({ name }) => name);
  return addListedModels(models, selectNewNames(models, names), new_models === "on", describe);
}

/** The audit entry for models that the schedule added, not an administrator. */
function createAuditNote(added: readonly FieldChange[]): Omit<EditNote, "at"> {
  return {
    who: "schedule",
    address: "",
    action: "models_refresh_hours",
    changes: added.slice(0, MAX_CHANGES),
    more: Math.max(0, added.length - MAX_CHANGES),
    keep: false,
    forget: false,
  };
}

/** Adds a provider's new models to the configuration. Returns their number. */
async function addNewModels(
  platform: Platform,
  id: string,
  offered: readonly OfferedModel[],
): Promise<number> {
  const { config } = await platform.configuration.readFresh();
  const initialEntry = config.providers.find((entry) => entry.id === id);
  if (initialEntry === undefined) return 0;
  const describe = createModelDescriber(offered, await loadProviderKnowledge(initialEntry));
  const findNewModels = (entry: ProviderEntry) =>
    Object.entries(withNewModels(entry, offered, describe)).filter(
      ([name]) => !Object.hasOwn(entry.models, name),
    );
  if (findNewModels(initialEntry).length === 0) return 0;
  let added: FieldChange[] = [];
  await platform.configuration.update(
    (current) => {
      added = [];
      const providers = current.providers.map((entry) => {
        // After a change of address or driver the list may not apply to the provider any more.
        if (entry.id !== id || entry.base_url !== initialEntry.base_url) return entry;
        if (!isSameDriver(entry.driver, initialEntry.driver)) return entry;
        added = findNewModels(entry).map(([name, settings]) => ({
          path: `providers[${id}].models.${name}`,
          before: null,
          after: JSON.stringify(settings),
        }));
        return { ...entry, models: withNewModels(entry, offered, describe) };
      });
      return { ...current, providers };
    },
    () => (added.length === 0 ? null : { ...createAuditNote(added), at: platform.now() }),
  );
  return added.length;
}
