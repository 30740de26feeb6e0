import * as z from "zod";
import type { Config } from "../../../core/config/schema.ts";
import { textToBase64 } from "../../../core/encoding/bytes.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { runInParallel } from "../../../core/run-in-parallel.ts";
import { accountIdentifiers } from "../account-identifiers.ts";
import { DEFAULT_TEST_MODEL, testAccount } from "../accounts/account-test.ts";
import { TEST_CONCURRENCY } from "../accounts/account-test-all.ts";
import { successSchema } from "../answers.ts";
import { exportConfig, hashConfig } from "../configuration/config-export.ts";
import { editConfig } from "../editing/config-edit.ts";
import { assertIfMatch } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { type HostingCredentials, resolveHostingCredentials } from "./hosting-credentials.ts";
import { HostingPlatform } from "./hosting-platform.ts";

/** Environment variable from which a hosted gateway reads its configuration. */
const CONFIG_VARIABLE = "GATEWAY_CONFIG_JSON";

/** Body of `POST /admin/hosting/sync` (docs/contract/admin-configuration.md). */
const hostingSyncSchema = requestObject(() => ({
  vercel_token: z.string().optional(),
  project_id: z.string().optional(),
  team_id: z.string().optional(),
  auto_validate: z.boolean().default(true),
  save_credentials: z.boolean().default(true),
}));

/** An account whose test failed. */
interface FailedAccount {
  readonly account: string;
  readonly message: string;
}

/** Tests all accounts, five at a time. Failures are reported but do not stop the sync. */
async function testAccounts(
  context: Context,
  config: Config,
): Promise<{ valid: number; failed: FailedAccount[] }> {
  const failed: FailedAccount[] = [];
  const accounts = await accountIdentifiers(config);
  await runInParallel(accounts, TEST_CONCURRENCY, async (account) => {
    const { success, message } = await testAccount(context, account, DEFAULT_TEST_MODEL, "");
    if (!success) failed.push({ account, message });
  });
  return { valid: accounts.length - failed.length, failed };
}

/** Encodes the configuration for the hosted gateway, without the credentials of the hosting platform. */
function encodeHostedConfig(config: Config, sync: Config["sync"]): string {
  const { vercel: _vercel, ...exported } = exportConfig(config);
  return textToBase64(JSON.stringify({ ...exported, sync }));
}

/** The saved credentials after a sync: values from the request replace saved ones. */
function mergeCredentials(config: Config, used: HostingCredentials): Config["vercel"] {
  return {
    token: used.tokenSource === "request" ? used.token : config.vercel.token,
    project_id: used.projectId,
    team_id: used.teamId,
  };
}

/** Starts a new deployment. `url` is null if an administrator must deploy by hand; `why` is the reason. */
async function redeploy(platform: HostingPlatform): Promise<{ url: string | null; why: string }> {
  try {
    const url = await platform.redeploy();
    return { url, why: url === null ? "the project has no production deployment yet" : "" };
  } catch (error) {
    if (error instanceof GatewayError) return { url: null, why: error.message };
    throw error;
  }
}

function savedCredentialNames({ tokenSource, projectId, teamId }: HostingCredentials): string[] {
  return [
    ...(tokenSource === "request" ? ["vercel_token"] : []),
    ...(projectId === "" ? [] : ["project_id"]),
    ...(teamId === "" ? [] : ["team_id"]),
  ];
}

const outcomeSchema = () =>
  successSchema().extend({
    validated_accounts: z.int(),
    failed_accounts: z.array(z.object({ account: z.string(), message: z.string() })).optional(),
    saved_credentials: z.array(z.enum(["vercel_token", "project_id", "team_id"])).optional(),
    manual_deploy_required: z.literal(true).optional(),
    deployment_url: z.string().optional(),
    message: z.string(),
  });

/** Tests the accounts, sends the configuration, redeploys, and records the sync. */
async function syncHosting(context: Context, body: z.output<typeof hostingSyncSchema>): Promise<Response> {
  const { configuration, variables, deploymentFetch, now } = context.platform;
  const { config, version, writable } = await configuration.readFresh();
  await assertIfMatch(context.request, version);
  const credentials = resolveHostingCredentials(variables.hosting, config, body);
  if (credentials.token === "") {
    throw invalidRequest("a hosting token is needed: send vercel_token or set VERCEL_TOKEN", "vercel_token");
  }
  if (credentials.projectId === "") {
    throw invalidRequest("a project is needed: send project_id or set VERCEL_PROJECT_ID", "project_id");
  }
  const tests = body.auto_validate ? await testAccounts(context, config) : { valid: 0, failed: [] };
  const sync = { hash: await hashConfig(config), time: Math.floor(now() / 1000) };
  const platform = new HostingPlatform(deploymentFetch, variables.hosting.apiBaseUrl, credentials);
  await platform.setVariable(CONFIG_VARIABLE, encodeHostedConfig(config, sync));
  const deployment = await redeploy(platform);
  const save = body.save_credentials && writable;
  if (writable) {
    const noteSync = (current: Config): Config => ({
      ...current,
      sync,
      vercel: save ? mergeCredentials(current, credentials) : current.vercel,
    });
    // The configuration is already sent, so a concurrent edit must not reject this one.
    await editConfig(context, noteSync, { anyVersion: true });
  }
  return Response.json({
    success: true,
    validated_accounts: tests.valid,
    ...(tests.failed.length > 0 ? { failed_accounts: tests.failed } : {}),
    ...(save ? { saved_credentials: savedCredentialNames(credentials) } : {}),
    ...(deployment.url === null ? { manual_deploy_required: true } : { deployment_url: deployment.url }),
    message:
      deployment.url === null
        ? `the configuration was sent; deploy the project by hand: ${deployment.why}`
        : "the configuration was sent, and a new deployment has started",
  });
}

/** Raises an alert for a failed sync, unless the request itself was invalid. Rethrows the error. */
async function reportFailure({ platform }: Context, error: unknown): Promise<never> {
  if (error instanceof GatewayError && error.status !== 400) {
    const { message } = error;
    const alert = { kind: "sync_failed", subject: "", value: error.status, threshold: 0 } as const;
    await Promise.resolve(
      platform.alerts.reportAlert({ ...alert, message: `the hosting sync failed: ${message}` }),
    ).catch(() => undefined);
  }
  throw error;
}

export const HOSTING_SYNC_ENDPOINTS = [
  /**
   * `POST /admin/hosting/sync` (docs/contract/admin-configuration.md): writes the configuration to the project's
   * environment and redeploys the project. If the redeployment fails, the rest stays done and the response has
   * `manual_deploy_required`.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/hosting/sync",
    role: "owner",
    summary: "Send the configuration to the hosting platform",
    body: hostingSyncSchema,
    optionalBody: true,
    answers: jsonResponse(outcomeSchema),
    handler: (context, { body }) =>
      syncHosting(context, body).catch((error) => reportFailure(context, error)),
  }),
] satisfies readonly Endpoint[];
