import * as z from "zod/mini";
import { call } from "./client.ts";
import { flag, nullableText, number, text } from "./fields.ts";

const credentials = z.object({
  has_token: flag,
  token_preview: text,
  token_source: nullableText,
  project_id: text,
  team_id: text,
});
export type HostingCredentials = z.output<typeof credentials>;

const status = z.object({
  synced: flag,
  /** Unix seconds. */
  last_sync_time: z._default(z.nullable(z.number()), 0),
  has_synced_before: flag,
  env_backed: flag,
  draft_differs: flag,
});

const failed = z._default(z.array(z.object({ account: text, message: text })), []);

const outcome = z.object({
  success: flag,
  validated_accounts: number,
  message: text,
  deployment_url: nullableText,
  manual_deploy_required: flag,
  failed_accounts: failed,
});
export type SyncOutcome = z.output<typeof outcome>;

export const readCredentials = () => call(credentials, "/admin/hosting/config");

export const readHostingStatus = () => call(status, "/admin/hosting/status");

/** Input of a sync. For empty fields the gateway uses the environment, then the saved values. */
export interface SyncInput {
  readonly vercel_token: string;
  readonly project_id: string;
  readonly team_id: string;
  readonly auto_validate: boolean;
  readonly save_credentials: boolean;
}

export const syncHosting = (body: SyncInput) =>
  call(outcome, "/admin/hosting/sync", { method: "POST", body });
