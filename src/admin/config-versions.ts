import * as z from "zod";
import { allKeys } from "../config/api-keys.ts";
import { type Config, configSchema } from "../config/schema.ts";
import type { Context } from "../platform/context.ts";
import type { KeptVersion } from "../platform/journal.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { lookAt } from "./alert-look.ts";
import { successSchema } from "./answers.ts";
import { difference, differenceSchema } from "./difference.ts";
import { edit } from "./edit.ts";
import { etagOf } from "./etag.ts";
import { found } from "./refusals.ts";
import { sentObject } from "./sent-fields.ts";

const versionSchema = () =>
  z.object({
    version: z.int(),
    /** Unix milliseconds. */
    at: z.int(),
    who: z.string(),
    action: z.string(),
    keys: z.int(),
    accounts: z.int(),
  }) satisfies z.ZodType<KeptVersion>;

/** Body of `POST /admin/config/restore`. */
const restoreSchema = sentObject(
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
    ...differenceSchema(),
  });

async function keptConfig({ platform }: Context, version: number): Promise<Config> {
  const kept = await platform.journal.readVersion(version);
  return configSchema.parse(found(kept, "the kept version", String(version)));
}

/** Returns the restored configuration. Administrators' access and the hosting sync state keep their present values. */
function restored(current: Config, kept: Config): Config {
  const { jwt_expire_hours } = kept.admin;
  return { ...kept, admin: { ...current.admin, jwt_expire_hours }, sync: current.sync };
}

export const VERSION_KEEPING_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/config/versions`: configurations that were saved before imports and other large changes. */
  forAdministrators({
    method: "GET",
    path: "/admin/config/versions",
    summary: "Configurations that can be restored",
    answers: json(() => z.object({ items: z.array(versionSchema()), version: z.int() })),
    handler: async ({ platform }) => {
      const items = await platform.journal.versions();
      const { version } = await platform.configuration.readFresh();
      return Response.json({ items, version });
    },
  }),
  /**
   * `POST /admin/config/restore`: restores a saved configuration. Saves the present one, so that the restore can be undone.
   */
  forAdministrators({
    method: "POST",
    path: "/admin/config/restore",
    summary: "Restore a configuration",
    body: restoreSchema,
    answers: json(restoredSchema),
    handler: async (context, { body }) => {
      const kept = await keptConfig(context, body.version);
      const before = await context.platform.configuration.readFresh();
      const after = body.dry_run
        ? { version: before.version, config: restored(before.config, kept) }
        : await edit(context, (current) => restored(current, kept), { keep: true });
      if (!body.dry_run) lookAt(context, after.config);
      const changed = await difference(before.config, after.config);
      return Response.json(
        {
          success: true,
          restored_version: body.version,
          version: after.version,
          total_keys: allKeys(after.config).length,
          total_accounts: after.config.accounts.length,
          ...changed,
        },
        { headers: { etag: etagOf(after.version) } },
      );
    },
  }),
];
