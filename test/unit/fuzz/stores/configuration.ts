import type { ConfigurationClient } from "../../../../src/core/config/configuration-client.ts";
import type { Config } from "../../../../src/core/config/schema.ts";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { SqlAuditLog } from "../../../../src/operator/audit/sql-audit-log.ts";
import { createConfigurationClient } from "../../../../src/runtime/deno/configuration.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Store {
  readonly client: ConfigurationClient;
  readonly auditLog: SqlAuditLog;
}

interface Model {
  /** Null: nothing was edited yet. */
  config: unknown;
  version: number;
  entries: number;
}

const VARIABLES = parseVariables({}, { drivers: ["sessions"] });
const NO_QUERY = { page: 1, pageSize: 1, who: "", action: "", q: "", since: 0, until: 0 };
let platform: ReturnType<typeof memoryPlatform> | undefined;

/** Another configuration: its texts and numbers are those that people and imports write. */
function changed(config: Config, choose: Choices): Config {
  const name = choose.text();
  switch (choose.below(5)) {
    case 0:
      return { ...config, keys: [...config.keys, name || "key"] };
    case 1:
      return { ...config, keys: config.keys.slice(1) };
    case 2:
      return {
        ...config,
        model_aliases: { ...config.model_aliases, [name || "alias"]: choose.text() || "model" },
      };
    case 3:
      return {
        ...config,
        prices: { ...config.prices, [name]: { input: choose.amount(), output: choose.amount() } },
      };
    default:
      return { ...config, model_aliases: {} };
  }
}

/** The configuration with its versions, as edits change it. */
export const configuration = storeTarget<Store, Model>({
  name: "configuration",
  open: async (sql) => {
    const auditLog = new SqlAuditLog(sql);
    platform ??= memoryPlatform();
    const { accounts } = await platform;
    return { client: await createConfigurationClient(sql, VARIABLES, accounts, auditLog), auditLog };
  },
  model: () => ({ config: null, version: 0, entries: 0 }),
  operations: [
    async ({ client }, choose, model, now) => {
      const note = {
        ...{ at: now(), who: choose.text(), address: choose.text(), action: choose.text() },
        ...{ changes: [], more: 0, keep: choose.once(2), forget: choose.once(8) },
      };
      const { config, version } = await client.update(
        (present) => changed(present, choose),
        () => note,
      );
      if (version <= model.version) throw new Error(`version ${version} follows ${model.version}`);
      Object.assign(model, { config: structuredClone(config), version, entries: model.entries + 1 });
    },
  ],
  check: async ({ client, auditLog }, { config, entries }) => {
    if (config === null) return;
    same("the configuration", (await client.readFresh()).config, config);
    same("changes recorded", auditLog.listEntries(NO_QUERY).total, entries);
  },
});
