import * as z from "zod";
import { newSecret } from "../auth/secrets.ts";
import { allKeys } from "../config/api-keys.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { shown } from "../config/secrets.ts";
import { lazyObject } from "../encoding/lazy-schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { parseWith } from "../http/json-body.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { lookAt } from "./alert-look.ts";
import { aliasesSchema } from "./aliases.ts";
import { successSchema } from "./answers.ts";
import { record } from "./audit-note.ts";
import { exportedConfigSchema } from "./config-answers.ts";
import { exportedConfig } from "./config-export.ts";
import { mergedConfig, replacedConfig } from "./config-merge.ts";
import { difference, differenceSchema } from "./difference.ts";
import { edit } from "./edit.ts";
import { refuseDangling } from "./edit-checks.ts";
import { MODES, modeSchema, objectSchema, readImport } from "./import-body.ts";

/** The two forms of the body. An object with a member `config` is always a wrapper. */
function bodyForms() {
  const config = configSchema.extend({ model_aliases: aliasesSchema().default({}) });
  return z.union([
    z.object({ config, mode: modeSchema, confirm: z.boolean().optional() }),
    config.extend({ config: z.never().optional() }),
  ]);
}

/**
 * Body of `POST /admin/config/import`: the configuration, or a wrapper that also names the mode. The schema does not
 * transform it, because a merge must distinguish sent values from defaults. The handler validates it afterwards, because
 * errors of a union do not name the wrong field.
 */
const importSchema = objectSchema.meta({
  // Evaluated only for the OpenAPI document, to keep startup fast.
  get anyOf() {
    return z.toJSONSchema(bodyForms(), { io: "input", unrepresentable: "any" }).anyOf;
  },
});

/** Query of `POST /admin/config/import`. */
const importQuerySchema = lazyObject(() => ({
  mode: z
    .string()
    .optional()
    .describe("`merge`, the default, or `replace`. The mode of a wrapper comes before it."),
  confirm: z.string().optional().describe("`true`: replace although no key or no account would be left."),
  dry_run: z.string().optional().describe("`true`: see the outcome without storing it."),
}));

/**
 * Keeps the old password if the import would lock all administrators out. If the password changes, ends all older tokens.
 */
function guarded(context: Context, before: Config, after: Config): Config {
  const { adminKey } = context.platform.variables;
  const lockedOut = after.admin.password_hash === "" && adminKey === null;
  const admin = lockedOut ? { ...after.admin, password_hash: before.admin.password_hash } : after.admin;
  if (admin.password_hash === before.admin.password_hash) return { ...after, admin };
  const validAfter = Math.floor(context.platform.now() / 1000);
  return { ...after, admin: { ...admin, jwt_secret: newSecret(), jwt_valid_after_unix: validAfter } };
}

/** Describes what a replacement would remove completely (all keys, all accounts); null: nothing. */
function loss(before: Config, after: Config): string | null {
  const lost = [
    ...(allKeys(before).length > 0 && allKeys(after).length === 0 ? ["key"] : []),
    ...(before.accounts.length > 0 && after.accounts.length === 0 ? ["account"] : []),
  ];
  return lost.length === 0
    ? null
    : `no ${lost.join(" and no ")} would be left; send confirm: true to do it all the same`;
}

/** Maximum number of listed changes. */
const MAX_CHANGES = 300;

/** A dry run returns the resulting configuration with masked secrets, and the changes. */
const importAnswerSchema = () =>
  z.union([
    successSchema().extend({
      mode: z.enum(MODES),
      dry_run: z.literal(true),
      config: exportedConfigSchema(),
      ...differenceSchema(),
      /** The reason why the import needs `confirm`; absent if it does not. */
      confirm_needed: z.string().optional(),
    }),
    successSchema().extend({
      mode: z.enum(MODES),
      imported_keys: z.int(),
      imported_accounts: z.int(),
      total_keys: z.int(),
      total_accounts: z.int(),
    }),
  ]);

export const IMPORT_ENDPOINTS: readonly Endpoint[] = [
  /** `POST /admin/config/import` (contract, Import details). */
  forAdministrators({
    method: "POST",
    path: "/admin/config/import",
    summary: "Import a configuration",
    body: importSchema,
    query: importQuerySchema,
    answers: json(importAnswerSchema),
    handler: async (context, { body, query }) => {
      const { raw, mode, confirmed } = readImport(body, query);
      const imported = parseWith(configSchema, raw);
      parseWith(z.object({ model_aliases: aliasesSchema() }), { model_aliases: imported.model_aliases });
      if (mode === "merge" && Object.keys(raw).length === 0) {
        throw invalidRequest("there is nothing to import");
      }
      const outcome = async (current: Config) => {
        const changed =
          mode === "replace"
            ? await replacedConfig(current, imported)
            : await mergedConfig(current, imported, raw);
        return guarded(context, current, changed);
      };
      if (query.dry_run === "true") {
        const present = await context.platform.configuration.readFresh();
        const after = await outcome(present.config);
        refuseDangling(present.config, after);
        const needed = mode === "replace" ? loss(present.config, after) : null;
        const changed = await difference(present.config, after, MAX_CHANGES);
        await record(context, { dry_run: mode });
        const config = shown(configSchema, exportedConfig(after));
        return Response.json({
          success: true,
          mode,
          dry_run: true,
          config,
          ...changed,
          ...(needed !== null && { confirm_needed: needed }),
        });
      }
      const { config } = await edit(
        context,
        async (current) => {
          const after = await outcome(current);
          const needed = mode === "replace" && !confirmed ? loss(current, after) : null;
          if (needed !== null) throw invalidRequest(needed, "confirm");
          return after;
        },
        { keep: true },
      );
      lookAt(context, config);
      return Response.json({
        success: true,
        mode,
        imported_keys: allKeys(imported).length,
        imported_accounts: imported.accounts.length,
        total_keys: allKeys(config).length,
        total_accounts: config.accounts.length,
      });
    },
  }),
];
