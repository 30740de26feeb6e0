import * as z from "zod";
import { listApiKeys } from "../../../core/config/api-keys.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import type { ConfigBackup } from "../../../core/ports/audit-log.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { diffConfigs, diffShape } from "../editing/config-diff.ts";
import { editConfig } from "../editing/config-edit.ts";
import { formatEtag } from "../etag.ts";
import { triggerAlertCheck } from "../monitoring/alert-check.ts";
import { requestObject } from "../request-fields.ts";
import { requireFound } from "../resource-errors.ts";

const versionSchema = () =>
  z.object({
    version: z.int(),
    /** Unix milliseconds. */
    at: z.int(),
    who: z.string(),
    action: z.string(),
    keys: z.int(),
    accounts: z.int(),
  }) satisfies z.ZodType<ConfigBackup>;

/** Body of `POST /admin/config/restore`. */
const restoreSchema = requestObject(
  () => ({ version: z.int().min(1), dry_run: z.boolean().default(false) }),
  versionSchema,
);

const restoredSchema = () =>
  successSchema().extend({
    restored_version: z.int(),
    /** Version of the active configuration. */
    version: z.int(),
    total_keys: z.int(),
    total_accounts: z.int(),
    ...diffShape(),
  });

async function readSavedConfig({ platform }: Context, version: number): Promise<Config> {
  const saved = await platform.auditLog.readBackup(version);
  return configSchema.parse(requireFound(saved, "the kept version", String(version)));
}

/** Returns the restored configuration. Administrators' access and the hosting sync state keep their present values. */
function restoreConfig(current: Config, saved: Config): Config {
  const { jwt_expire_hours } = saved.admin;
  const { administrators, oidc, sync } = current;
  return { ...saved, admin: { ...current.admin, jwt_expire_hours }, administrators, oidc, sync };
}

export const CONFIG_VERSION_ENDPOINTS = [
  /** `GET /admin/config/versions`: configurations that were saved before imports and other large changes. */
  adminEndpoint({
    method: "GET",
    path: "/admin/config/versions",
    summary: "Configurations that can be restored",
    answers: jsonResponse(() => z.object({ items: z.array(versionSchema()), version: z.int() })),
    handler: async ({ platform }) => {
      const items = await platform.auditLog.listBackups();
      const { version } = await platform.configuration.readFresh();
      return Response.json({ items, version });
    },
  }),
  /**
   * `POST /admin/config/restore`: restores a saved configuration. Saves the present one, so that the restore can be undone.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/config/restore",
    role: "owner",
    summary: "Restore a configuration",
    body: restoreSchema,
    answers: jsonResponse(restoredSchema),
    handler: async (context, { body }) => {
      const saved = await readSavedConfig(context, body.version);
      const before = await context.platform.configuration.readFresh();
      const after = body.dry_run
        ? { version: before.version, config: restoreConfig(before.config, saved) }
        : await editConfig(context, (current) => restoreConfig(current, saved), {
            keep: true,
            isRestored: true,
          });
      if (!body.dry_run) triggerAlertCheck(context, after.config);
      const changed = await diffConfigs(before.config, after.config);
      return Response.json(
        {
          success: true,
          restored_version: body.version,
          version: after.version,
          total_keys: listApiKeys(after.config).length,
          total_accounts: after.config.accounts.length,
          ...changed,
        },
        { headers: { etag: formatEtag(after.version) } },
      );
    },
  }),
] satisfies readonly Endpoint[];
