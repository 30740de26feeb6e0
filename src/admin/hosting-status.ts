import * as z from "zod";
import { type Config, configSchema } from "../config/schema.ts";
import type { Context, Handler } from "../platform/context.ts";
import { configHash } from "./config-export.ts";
import { readOptionalBody } from "./optional-body.ts";

/** `POST /admin/hosting/status`: a draft of the whole configuration may be compared with what was synced. */
export const hostingStatusSchema = z.object({ config_override: configSchema.optional() });

async function status({ platform }: Context, draft: Config | null): Promise<Response> {
  const { config, envBacked } = await platform.configuration.readFresh();
  const { hash: synced, time } = config.sync;
  const current = await configHash(config);
  const draftHash = draft === null ? current : await configHash(draft);
  return Response.json({
    synced: synced !== "" && synced === current,
    last_sync_time: time,
    has_synced_before: synced !== "",
    env_backed: envBacked,
    config_hash: current,
    last_synced_hash: synced,
    draft_hash: draftHash,
    draft_differs: draftHash !== synced,
  });
}

/** `GET /admin/hosting/status` (contract): without a draft, the present configuration is compared. Unix seconds. */
export const hostingStatus: Handler = (context) => status(context, null);

/** `POST /admin/hosting/status` (contract). */
export const hostingDraftStatus: Handler = async (context) => {
  const { config_override } = await readOptionalBody(context.request, hostingStatusSchema);
  return status(context, config_override ?? null);
};
