import { ConfigurationClient } from "../../config/client.ts";
import { configSchema } from "../../config/schema.ts";
import type { ConfigSnapshot } from "../../config/snapshot.ts";
import type { Journal } from "../journal.ts";
import type { Env } from "./env.ts";

/** The copy in KV, for when the configuration object cannot be reached. */
async function kvCopy(env: Env): Promise<ConfigSnapshot | null> {
  const copy = await env.CONFIG_KV?.get<ConfigSnapshot>("config", "json");
  if (copy === null || copy === undefined) return null;
  return { ...copy, config: configSchema.parse(copy.config) };
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
