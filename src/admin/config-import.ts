import * as z from "zod";
import { newSecret } from "../auth/secrets.ts";
import { type Config, configSchema } from "../config/schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { parseWith, readJson } from "../http/json-body.ts";
import type { Context, Handler } from "../platform/context.ts";
import { aliasesSchema } from "./aliases.ts";
import { exportedConfig } from "./config-export.ts";
import { mergedConfig, replacedConfig } from "./config-merge.ts";
import { allKeys, edit } from "./edit.ts";

const objectSchema = z.record(z.string(), z.unknown(), "the configuration must be an object");
const modeSchema = z.enum(["merge", "replace"], "must be merge or replace");

/** `POST /admin/config/import`: the configuration itself, or in a wrapper that also names the mode. */
export const importSchema = z.union([
  z.object({ config: configSchema, mode: modeSchema.optional() }),
  configSchema,
]);

/** Query of `POST /admin/config/import`. `dry_run` is `true` to see the outcome without storing it. */
export const importQuerySchema = z.object({
  mode: modeSchema.optional(),
  dry_run: z.enum(["true", "false"]).optional(),
});

interface Import {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly mode: "merge" | "replace";
}

/** What the request wants imported. A wrapper's mode counts before the query's. */
function readImport(body: unknown, url: URL): Import {
  const object = parseWith(objectSchema, body);
  const wrapped = "config" in object;
  const raw = wrapped ? parseWith(objectSchema, object["config"]) : object;
  const named = wrapped ? object["mode"] : undefined;
  const mode = (named ?? url.searchParams.get("mode")) || "merge";
  return { raw, mode: parseWith(z.object({ mode: modeSchema }), { mode }).mode };
}

/** Someone must be able to sign in afterwards; and a changed password ends older tokens, also when it is imported. */
function guarded(context: Context, before: Config, after: Config): Config {
  const { adminKey } = context.platform.settings;
  const lockedOut = after.admin.password_hash === "" && adminKey === null;
  const admin = lockedOut ? { ...after.admin, password_hash: before.admin.password_hash } : after.admin;
  if (admin.password_hash === before.admin.password_hash) return { ...after, admin };
  const validAfter = Math.floor(context.platform.now() / 1000);
  return { ...after, admin: { ...admin, jwt_secret: newSecret(), jwt_valid_after_unix: validAfter } };
}

/** `POST /admin/config/import` (contract, Import details). A dry run answers the configuration that would be. */
export const importConfig: Handler = async (context) => {
  const { raw, mode } = readImport(await readJson(context.request), context.url);
  const imported = parseWith(configSchema, raw);
  parseWith(z.object({ model_aliases: aliasesSchema }), { model_aliases: imported.model_aliases });
  if (mode === "merge" && Object.keys(raw).length === 0) throw invalidRequest("there is nothing to import");
  const outcome = async (current: Config) => {
    const changed =
      mode === "replace"
        ? await replacedConfig(current, imported)
        : await mergedConfig(current, imported, raw);
    return guarded(context, current, changed);
  };
  if (context.url.searchParams.get("dry_run") === "true") {
    const present = await context.platform.configuration.readFresh();
    const config = exportedConfig(await outcome(present.config));
    return Response.json(
      { success: true, mode, dry_run: true, config },
      { headers: { "cache-control": "no-store" } },
    );
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
};
