import * as z from "zod";
import { createSecret } from "../../../core/auth/secrets.ts";
import { listApiKeys } from "../../../core/config/api-keys.ts";
import { maskMarkedSecrets } from "../../../core/config/marked-secrets.ts";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { assertImportedAuth } from "../accounts/account-auth.ts";
import { assertOwnerLeft, createEpoch } from "../administrators/administrators.ts";
import { successSchema } from "../answers.ts";
import { recordAction } from "../editing/audit-recording.ts";
import { diffConfigs, diffShape } from "../editing/config-diff.ts";
import { assertStorable, editConfig } from "../editing/config-edit.ts";
import { aliasesSchema } from "../models/aliases.ts";
import { triggerAlertCheck } from "../monitoring/alert-check.ts";
import { exportedConfigSchema } from "./config-answers.ts";
import { exportConfig } from "./config-export.ts";
import { mergeConfig, replaceConfig } from "./config-merge.ts";
import { IMPORT_MODES, modeSchema, objectSchema, readImport } from "./import-body.ts";

/** The two forms of the body. An object with a member `config` is always a wrapper. */
function importBodySchema() {
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
    return z.toJSONSchema(importBodySchema(), { io: "input", unrepresentable: "any" }).anyOf;
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

/** Gives administrators that are not the present ones a new part of tokens: earlier tokens of theirs stay invalid. */
function endForeignTokens(
  before: Config,
  administrators: Config["administrators"],
): Config["administrators"] {
  const epochs = new Map(before.administrators.map(({ id, session_epoch }) => [id, session_epoch]));
  return administrators.map((entry) =>
    epochs.get(entry.id) === entry.session_epoch ? entry : { ...entry, session_epoch: createEpoch() },
  );
}

/**
 * Keeps the old password if the import would lock all administrators out. If the password changes, ends all older tokens.
 */
function preserveAdminAccess(context: Context, before: Config, imported: Config): Config {
  const after = assertOwnerLeft(context, before, {
    ...imported,
    administrators: endForeignTokens(before, imported.administrators),
  });
  const { adminKey } = context.platform.variables;
  const isLockedOut = after.admin.password_hash === "" && adminKey === null;
  const admin = isLockedOut ? { ...after.admin, password_hash: before.admin.password_hash } : after.admin;
  if (admin.password_hash === before.admin.password_hash) return { ...after, admin };
  const validAfter = Math.floor(context.platform.now() / 1000);
  return { ...after, admin: { ...admin, jwt_secret: createSecret(), jwt_valid_after_unix: validAfter } };
}

/** Describes what a replacement would remove completely (all keys, all accounts); null: nothing. */
function describeLoss(before: Config, after: Config): string | null {
  const removed = [
    ...(listApiKeys(before).length > 0 && listApiKeys(after).length === 0 ? ["key"] : []),
    ...(before.accounts.length > 0 && after.accounts.length === 0 ? ["account"] : []),
  ];
  return removed.length === 0
    ? null
    : `no ${removed.join(" and no ")} would be left; send confirm: true to do it all the same`;
}

/** Maximum number of listed changes. */
const MAX_CHANGES = 300;

/** A dry run returns the resulting configuration with masked secrets, and the changes. */
const importAnswerSchema = () =>
  z.union([
    successSchema().extend({
      mode: z.enum(IMPORT_MODES),
      dry_run: z.literal(true),
      config: exportedConfigSchema(),
      ...diffShape(),
      /** The reason why the import needs `confirm`; absent if it does not. */
      confirm_needed: z.string().optional(),
    }),
    successSchema().extend({
      mode: z.enum(IMPORT_MODES),
      imported_keys: z.int(),
      imported_accounts: z.int(),
      total_keys: z.int(),
      total_accounts: z.int(),
    }),
  ]);

export const IMPORT_ENDPOINTS = [
  /** `POST /admin/config/import` (docs/contract/admin-configuration.md, Import details). */
  adminEndpoint({
    method: "POST",
    path: "/admin/config/import",
    role: "owner",
    summary: "Import a configuration",
    body: importSchema,
    query: importQuerySchema,
    answers: jsonResponse(importAnswerSchema),
    handler: async (context, { body, query }) => {
      const { raw, mode, confirmed } = readImport(body, query);
      const imported = parseWith(configSchema, raw);
      assertImportedAuth(imported.accounts);
      parseWith(z.object({ model_aliases: aliasesSchema() }), { model_aliases: imported.model_aliases });
      if (mode === "merge" && Object.keys(raw).length === 0) {
        throw invalidRequest("there is nothing to import");
      }
      const applyImport = async (current: Config) => {
        const changed =
          mode === "replace"
            ? await replaceConfig(current, imported)
            : await mergeConfig(current, imported, raw);
        return preserveAdminAccess(context, current, changed);
      };
      if (query.dry_run === "true") {
        const current = await context.platform.configuration.readFresh();
        const after = await applyImport(current.config);
        assertStorable(current.config, after);
        const confirmReason = mode === "replace" ? describeLoss(current.config, after) : null;
        const changed = await diffConfigs(current.config, after, MAX_CHANGES);
        await recordAction(context, { dry_run: mode });
        const config = maskMarkedSecrets(configSchema, exportConfig(after));
        return Response.json({
          success: true,
          mode,
          dry_run: true,
          config,
          ...changed,
          ...(confirmReason !== null && { confirm_needed: confirmReason }),
        });
      }
      const { config } = await editConfig(
        context,
        async (current) => {
          const after = await applyImport(current);
          const confirmReason = mode === "replace" && !confirmed ? describeLoss(current, after) : null;
          if (confirmReason !== null) throw invalidRequest(confirmReason, "confirm");
          return after;
        },
        { keep: true },
      );
      triggerAlertCheck(context, config);
      return Response.json({
        success: true,
        mode,
        imported_keys: listApiKeys(imported).length,
        imported_accounts: imported.accounts.length,
        total_keys: listApiKeys(config).length,
        total_accounts: config.accounts.length,
      });
    },
  }),
] satisfies readonly Endpoint[];
