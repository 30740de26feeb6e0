import * as z from "zod";
import { newSecret } from "../auth/secrets.ts";
import { allKeys } from "../config/api-keys.ts";
import { type Config, configSchema } from "../config/schema.ts";
import type { JsonObject } from "../encoding/json.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { parseWith } from "../http/json-body.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { aliasesSchema } from "./aliases.ts";
import { successSchema } from "./answers.ts";
import { exportedConfigSchema } from "./config-answers.ts";
import { exportedConfig, NOT_KEPT } from "./config-export.ts";
import { mergedConfig, replacedConfig } from "./config-merge.ts";
import { edit } from "./edit.ts";

const MODES = ["merge", "replace"] as const;

const objectSchema = z.record(z.string(), z.unknown(), "the configuration must be an object");
/** Null leaves the choice to the query; an empty one is a merge. */
const modeSchema = z.enum([...MODES, ""], "must be merge or replace").nullish();

/** The two forms of the body. An object with a member `config` is a wrapper, whatever else it has. */
function bodyForms() {
  const config = configSchema.extend({ model_aliases: aliasesSchema.default({}) });
  return z.union([z.object({ config, mode: modeSchema }), config.extend({ config: z.never().optional() })]);
}

/**
 * `POST /admin/config/import`: the configuration itself, or in a wrapper that also names the mode. It comes through as it
 * was sent, because a merge tells what was given from what is a default, and is checked afterwards by the form that it
 * has: a union could not say which field is at fault.
 */
const importSchema = objectSchema.meta({
  // Read when the OpenAPI document is made, so that start-up does not pay for it.
  get anyOf() {
    return z.toJSONSchema(bodyForms(), { io: "input", unrepresentable: "any" }).anyOf;
  },
});

/** Query of `POST /admin/config/import`. */
const importQuerySchema = z.object({
  mode: z
    .string()
    .optional()
    .describe("`merge`, the default, or `replace`. The mode of a wrapper comes before it."),
  dry_run: z.string().optional().describe("`true`: see the outcome without storing it."),
});

interface Import {
  readonly raw: JsonObject;
  readonly mode: (typeof MODES)[number];
}

/** What the request wants imported. A wrapper's mode counts before the query's. */
function readImport(body: JsonObject, queryMode: string | undefined): Import {
  const wrapped = "config" in body;
  const raw = wrapped ? parseWith(objectSchema, body["config"]) : body;
  const named = wrapped ? body["mode"] : undefined;
  const { mode } = parseWith(z.object({ mode: modeSchema }), { mode: named ?? queryMode });
  return { raw, mode: mode || "merge" };
}

/** Someone must be able to sign in afterwards; and a changed password ends older tokens, also when it is imported. */
function guarded(context: Context, before: Config, after: Config): Config {
  const { adminKey } = context.platform.variables;
  const lockedOut = after.admin.password_hash === "" && adminKey === null;
  const admin = lockedOut ? { ...after.admin, password_hash: before.admin.password_hash } : after.admin;
  if (admin.password_hash === before.admin.password_hash) return { ...after, admin };
  const validAfter = Math.floor(context.platform.now() / 1000);
  return { ...after, admin: { ...admin, jwt_secret: newSecret(), jwt_valid_after_unix: validAfter } };
}

/** The outcome of a dry run is the configuration that would be. */
const importAnswerSchema = () =>
  z.union([
    successSchema().extend({
      mode: z.enum(MODES),
      dry_run: z.literal(true),
      config: exportedConfigSchema(),
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
      const { raw, mode } = readImport(body, query.mode);
      const imported = parseWith(configSchema, raw);
      parseWith(z.object({ model_aliases: aliasesSchema }), { model_aliases: imported.model_aliases });
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
        const config = exportedConfig(await outcome(present.config));
        return Response.json({ success: true, mode, dry_run: true, config }, NOT_KEPT);
      }
      const { config } = await edit(context, outcome);
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
