import { openSealedConfig, type SealedConfig } from "../../core/config/build-seal.ts";
import type { ConfigOrigin } from "../../core/config/config-origin.ts";
import { ConfigurationClient } from "../../core/config/configuration-client.ts";
import type { ConfigSnapshot } from "../../core/config/snapshot.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import type { AuditLog } from "../../core/ports/audit-log.ts";
import { isNewerDataError } from "../../core/storage/data-version.ts";
import type { Env } from "./env.ts";
import { getVariables } from "./variables.ts";

/** KV key of the configuration's copy. */
export const COPY_KEY = "config";

/** The configuration's copy in KV. */
export interface ConfigCopy extends ConfigSnapshot, SealedConfig {
  /** See {@link hashConfigOrigin}. */
  readonly source: string;
}

/** Hashes the variables that the configuration depends on. A copy made under other variables is not used. */
export function hashConfigOrigin({
  configJson,
  configWriteback,
  development,
  providerDriver,
  providerBaseUrl,
}: ConfigOrigin): Promise<string> {
  const ofDevelopment = development ? [providerDriver, providerBaseUrl] : [];
  return sha256Hex(JSON.stringify([configJson, configWriteback, development, ...ofDevelopment]));
}

/** The copy in KV, for isolates that cannot reach the configuration object. */
async function readKvCopy(env: Env): Promise<ConfigSnapshot | null> {
  const copy = await env.CONFIG_KV?.get<ConfigCopy>(COPY_KEY, "json");
  if (copy === null || copy === undefined) return null;
  if (copy.source !== (await hashConfigOrigin(getVariables(env)))) return null;
  const { version, envBacked, writable } = copy;
  return { version, config: await openSealedConfig(copy), envBacked, writable };
}

/** This isolate's view of the configuration that the `Configuration` object stores. */
export function createConfigurationClient(env: Env): ConfigurationClient {
  const object = () => env.CONFIGURATION.getByName("main");
  return new ConfigurationClient(
    {
      newerThan: async (known) => {
        try {
          return await object().newerThan(known);
        } catch (error) {
          // The copy is of the newer build, too.
          if (isNewerDataError(error)) throw error;
          const copy = await readKvCopy(env);
          if (copy === null) throw error;
          return copy;
        }
      },
      replace: (base, config, note) => object().replace(base, config, note),
    },
    Date.now,
  );
}

/** The audit log, which the same object stores. */
export function createAuditLog(env: Env): AuditLog {
  const object = () => env.CONFIGURATION.getByName("main");
  return {
    listEntries: (query) => object().audit(query),
    recordEntry: (note) => object().record(note),
    listBackups: () => object().versions(),
    readBackup: async (version) => {
      const text = await object().versionText(version);
      return text === null ? null : JSON.parse(text);
    },
  };
}
