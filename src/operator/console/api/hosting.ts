import * as z from "zod/mini";
import { callApi } from "./client.ts";
import { booleanField, nullableTextField, numberField, textField } from "./fields.ts";

const credentials = z.object({
  has_token: booleanField,
  token_preview: textField,
  token_source: nullableTextField,
  project_id: textField,
  team_id: textField,
});
export type HostingCredentials = z.output<typeof credentials>;

const status = z.object({
  synced: booleanField,
  /** Unix seconds. */
  last_sync_time: z._default(z.nullable(z.number()), 0),
  has_synced_before: booleanField,
  env_backed: booleanField,
  draft_differs: booleanField,
});

const failed = z._default(z.array(z.object({ account: textField, message: textField })), []);

const outcome = z.object({
  success: booleanField,
  validated_accounts: numberField,
  message: textField,
  deployment_url: nullableTextField,
  manual_deploy_required: booleanField,
  failed_accounts: failed,
});
export type SyncOutcome = z.output<typeof outcome>;

export const readCredentials = () => callApi(credentials, "/admin/hosting/config");

export const readHostingStatus = () => callApi(status, "/admin/hosting/status");

/** Input of a sync. For empty fields the gateway uses the environment, then the saved values. */
export interface SyncInput {
  readonly vercel_token: string;
  readonly project_id: string;
  readonly team_id: string;
  readonly auto_validate: boolean;
  readonly save_credentials: boolean;
}

export const syncHosting = (body: SyncInput) =>
  callApi(outcome, "/admin/hosting/sync", { method: "POST", body });
