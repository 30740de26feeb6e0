import { ConfigurationClient } from "../../config/client.ts";
import { opened, type SealedConfig } from "../../config/seal.ts";
import type { ConfigSnapshot } from "../../config/snapshot.ts";
import type { ConfigOrigin } from "../../config/source.ts";
import { sha256Hex } from "../../encoding/hash.ts";
import type { Journal } from "../journal.ts";
import type { Env } from "./env.ts";
import { variablesOf } from "./variables.ts";

/** Where the copy is in KV. */
export const COPY_KEY = "config";

/** The copy in KV. */
export interface ConfigCopy extends ConfigSnapshot, SealedConfig {
  /** See {@link sourceOf}. */
  readonly source: string;
}

/** Names what the deployment says of its configuration: a copy made for another deployment's words is none. */
export function sourceOf({ configJson, configWriteback, development }: ConfigOrigin): Promise<string> {
  return sha256Hex(JSON.stringify([configJson, configWriteback, development]));
}

/** The copy in KV, by which requests begin in a new isolate, and live when the configuration object cannot be reached. */
async function kvCopy(env: Env): Promise<ConfigSnapshot | null> {
  const copy = await env.CONFIG_KV?.get<ConfigCopy>(COPY_KEY, "json");
  if (copy === null || copy === undefined) return null;
  if (copy.source !== (await sourceOf(variablesOf(env)))) return null;
  const { version, envBacked, writable } = copy;
  return { version, config: await opened(copy), envBacked, writable };
}

/** The configuration as this isolate sees it, kept by the `Configuration` object. */
export function cloudflareConfiguration(env: Env): ConfigurationClient {
  const object = () => env.CONFIGURATION.getByName("main");
  return new ConfigurationClient(
    {
      newerThan: async (known) => {
        try {
          return await object().newerThan(known);
        } catch (error) {
          const copy = await kvCopy(env);
          if (copy === null) throw error;
          return copy;
        }
      },
      replace: (base, config, note) => object().replace(base, config, note),
      copy: () => kvCopy(env),
    },
    Date.now,
  );
}

/** What the same object has recorded of edits, and of other changes. */
export function cloudflareJournal(env: Env): Journal {
  const object = () => env.CONFIGURATION.getByName("main");
  return {
    list: (query) => object().audit(query),
    record: (note) => object().record(note),
    versions: () => object().versions(),
    readVersion: async (version) => {
      const text = await object().versionText(version);
      return text === null ? null : JSON.parse(text);
    },
  };
}
