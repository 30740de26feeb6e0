import type { SqlJournal } from "../../audit/sql-journal.ts";
import { ConfigurationClient } from "../../config/client.ts";
import { type ConfigStorage, ConfigurationCore, type StoredConfig } from "../../config/core.ts";
import { poolConfiguration } from "../../pool/configuration.ts";
import { type Sql, textIn } from "../../storage/sql.ts";
import type { AccountPoolClient } from "../accounts.ts";
import type { Variables } from "../variables.ts";

/** The durable slot of the configuration: one row. */
function configStorage(sql: Sql): ConfigStorage {
  sql.all(
    "create table if not exists configuration(one integer primary key check (one = 1), stored text not null)",
  );
  return {
    load: (): StoredConfig | null => {
      const [row] = sql.all("select stored from configuration");
      return row === undefined ? null : JSON.parse(textIn(row, "stored"));
    },
    save: (stored, also) =>
      sql.transaction(() => {
        sql.all("insert or replace into configuration values(1, ?)", JSON.stringify(stored));
        also?.();
      }),
  };
}

/** The configuration of a process, which tells the account pool of every edit. Resolves when the pool knows it. */
export async function denoConfiguration(
  sql: Sql,
  variables: Variables,
  accounts: AccountPoolClient,
  journal: SqlJournal,
): Promise<ConfigurationClient> {
  const core = new ConfigurationCore(configStorage(sql), variables);
  // With the version: a request that waited may have been let in by an older one.
  const tellPool = async () => {
    const { config, version } = core.snapshot;
    await accounts.configure(await poolConfiguration(config, variables.queueTimeoutMs, version));
  };
  await tellPool();
  return new ConfigurationClient(
    {
      newerThan: async (known) => (core.snapshot.version === known ? null : core.snapshot),
      replace: async (base, config, note) => {
        const outcome = core.replace(base, config, (before, version) => {
          if (note !== null) journal.edited(before, version, note);
        });
        if (outcome.stored) await tellPool();
        return outcome;
      },
    },
    Date.now,
  );
}
