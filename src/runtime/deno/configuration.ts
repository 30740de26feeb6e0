import * as z from "zod";
import { ConfigurationClient } from "../../core/config/configuration-client.ts";
import {
  type ConfigStorage,
  ConfigurationCore,
  type StoredConfig,
} from "../../core/config/configuration-core.ts";
import { once } from "../../core/encoding/once.ts";
import type { AccountPoolClient } from "../../core/ports/accounts.ts";
import { type Sql, textIn } from "../../core/storage/sql.ts";
import type { Variables } from "../../core/variables/variables.ts";
import { createPoolDeployment } from "../../gateway/providers/pool-deployment.ts";
import type { SqlAuditLog } from "../../operator/audit/sql-audit-log.ts";
import { buildPoolConfiguration } from "../../pool/configuration.ts";

/** The required form of the row, checked before the configuration's own schemas. */
const storedSchema = once(() =>
  z.object({
    version: z.int().min(0),
    config: z.looseObject({}),
    source: z.string(),
    build: z.string().optional(),
    unusedSamples: z.array(z.string()).optional(),
  }),
);

/** Stores the configuration in one row. */
function createConfigStorage(sql: Sql): ConfigStorage {
  sql.all(
    "create table if not exists configuration(one integer primary key check (one = 1), stored text not null)",
  );
  return {
    load: (): StoredConfig | null => {
      const [row] = sql.all("select stored from configuration");
      if (row === undefined) return null;
      const { build, unusedSamples, ...stored } = storedSchema().parse(JSON.parse(textIn(row, "stored")));
      return {
        ...stored,
        ...(build === undefined ? {} : { build }),
        ...(unusedSamples === undefined ? {} : { unusedSamples }),
      };
    },
    save: (stored, also) =>
      sql.transaction(() => {
        sql.all("insert or replace into configuration values(1, ?)", JSON.stringify(stored));
        also?.();
      }),
  };
}

/** The stored configuration cannot be read. The message contains instructions and no secrets. */
export class DamagedConfigurationError extends Error {
  override readonly name = "DamagedConfigurationError";
}

/**
 * Opens the stored configuration. A damaged one stops the start: an empty replacement would lose all keys and accounts, and
 * in an older version a deleted key would work again.
 *
 * @throws DamagedConfigurationError
 */
function openCore(sql: Sql, variables: Variables, auditLog: SqlAuditLog): ConfigurationCore {
  try {
    return new ConfigurationCore(createConfigStorage(sql), variables);
  } catch (error) {
    // A temporary storage failure does not mean that the content is damaged.
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    const versions = auditLog.listBackups().map(({ version }) => version);
    const backups =
      versions.length === 0 ? "there is no kept version" : `kept versions: ${versions.join(", ")}`;
    throw new DamagedConfigurationError(
      `The configuration in ${variables.process.dataFolder}/polygate.db is damaged: ${describeDamage(error)}. Nothing was changed. Put a backup in its place, or go back to a kept version (${backups}): see "A damaged configuration" in docs/operating.md`,
    );
  }
}

/** Describes the damage without the row's text, which contains secrets. */
function describeDamage(error: SyntaxError | z.ZodError): string {
  if (error instanceof SyntaxError) return "the row is no JSON";
  const [issue] = error.issues;
  if (issue === undefined) return "it cannot be read";
  return [issue.path.join("."), issue.message].filter(Boolean).join(": ");
}

/** The configuration of a process. Every edit is passed on to the account pool; an edit resolves when the pool has it. */
export async function createConfigurationClient(
  sql: Sql,
  variables: Variables,
  accounts: AccountPoolClient,
  auditLog: SqlAuditLog,
): Promise<ConfigurationClient> {
  const core = openCore(sql, variables, auditLog);
  // The version lets the pool detect waiting requests that an older configuration admitted.
  const configurePool = async () => {
    const { config, version } = core.snapshot;
    await accounts.configure(await buildPoolConfiguration(config, createPoolDeployment(variables), version));
  };
  await configurePool();
  return new ConfigurationClient(
    {
      newerThan: async (known) => (core.snapshot.version === known ? null : core.snapshot),
      replace: async (base, config, note) => {
        const outcome = core.replace(base, config, (before, version) => {
          if (note !== null) auditLog.recordEdit(before, version, note);
        });
        if (outcome.stored) await configurePool();
        return outcome;
      },
    },
    Date.now,
  );
}
