import * as z from "zod";
import { type Config, configSchema } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { hashConfig } from "../configuration/config-export.ts";

/** Body of `POST /admin/hosting/status`. A draft of the whole configuration may be compared with the synced one. */
const draftSchema = lazyObject(() => ({ config_override: configSchema.optional() }));

const statusSchema = () =>
  z.object({
    synced: z.boolean(),
    /** Unix seconds; 0: never. */
    last_sync_time: z.int(),
    has_synced_before: z.boolean(),
    env_backed: z.boolean(),
    config_hash: z.string(),
    last_synced_hash: z.string(),
    draft_hash: z.string(),
    draft_differs: z.boolean(),
  });

async function hostingStatusResponse({ platform }: Context, draft: Config | null): Promise<Response> {
  const { config, envBacked } = await platform.configuration.readFresh();
  const { hash: synced, time } = config.sync;
  const current = await hashConfig(config);
  const draftHash = draft === null ? current : await hashConfig(draft);
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

export const HOSTING_STATUS_ENDPOINTS = [
  /** `GET /admin/hosting/status` (docs/contract/admin-configuration.md): compares the present configuration. */
  adminEndpoint({
    method: "GET",
    path: "/admin/hosting/status",
    summary: "Drift from the hosted configuration",
    answers: jsonResponse(statusSchema),
    handler: (context) => hostingStatusResponse(context, null),
  }),
  /** `POST /admin/hosting/status` (docs/contract/admin-configuration.md). */
  adminEndpoint({
    method: "POST",
    path: "/admin/hosting/status",
    summary: "Drift of a draft from the hosted configuration",
    body: draftSchema,
    optionalBody: true,
    answers: jsonResponse(statusSchema),
    handler: (context, { body }) => hostingStatusResponse(context, body.config_override ?? null),
  }),
] satisfies readonly Endpoint[];
