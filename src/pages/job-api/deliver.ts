import { getKnownKeys } from "../../core/auth/caller-keys.ts";
import { signWebhookBody } from "../../core/auth/webhook-signature.ts";
import { toUtf8 } from "../../core/encoding/bytes.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { JobState, TaskResult } from "../../core/ports/page-jobs.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { checkPageUrl, isListedPrivateHost } from "../../core/url-safety/index.ts";
import { createJobResponse } from "../jobs/job-response.ts";
import type { DueWebhook } from "../jobs/webhook-table.ts";
import { clientKeyId } from "../limits/page-caller.ts";

/** How long a receiver may take to answer, milliseconds. */
const RECEIVER_TIMEOUT_MS = 10_000;
/** Prefix of the key's digest in the signing secret. It keeps that secret from any other use. */
const PURPOSE = "polygate-webhook:";

/**
 * Sends a result with PUT, for example to a presigned address of a bucket.
 *
 * @throws GatewayError 503 if it is not accepted
 */
export async function uploadResult(
  platform: Platform,
  url: string,
  { body, headers }: TaskResult,
): Promise<void> {
  const type = headers["content-type"];
  await send(platform, url, {
    method: "PUT",
    body,
    ...(type !== undefined && { headers: { "content-type": type } }),
  });
}

/**
 * Sends a finished job's state with POST, signed as Standard Webhooks says. The secret is made of the key's digest.
 *
 * @throws GatewayError 503 if it is not accepted
 */
export async function notifyWebhook(
  platform: Platform,
  job: JobState,
  { client, url }: Pick<DueWebhook, "client" | "url">,
): Promise<void> {
  const body = await createJobResponse(job).text();
  const { config } = await platform.configuration.read();
  const keyId = clientKeyId(client);
  const [digest] = [...(await getKnownKeys(config))].find(([, { key }]) => key.id === keyId) ?? [];
  // The key was deleted meanwhile: nothing could prove who sends this.
  if (digest === undefined) return;
  const signature = await signWebhookBody(job.id, platform.now(), body, toUtf8(PURPOSE + digest));
  await send(platform, url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...signature },
  });
}

async function send(platform: Platform, url: string, init: RequestInit): Promise<void> {
  const privateHosts = platform.variables.deliveryPrivateHosts;
  const check = checkPageUrl(url, { privateHosts });
  if (!check.ok) throw notAccepted("its address is not allowed any more");
  const signal = AbortSignal.timeout(RECEIVER_TIMEOUT_MS);
  // On Deno `fetch` also refuses names that lead to private addresses.
  const fetch = isListedPrivateHost(check.url, privateHosts) ? platform.deploymentFetch : platform.fetch;
  const response = await fetch(check.url.href, { ...init, redirect: "manual", signal }).catch(() => null);
  await response?.body?.cancel();
  if (response === null) throw notAccepted("it cannot be reached");
  if (!response.ok) throw notAccepted(`it answered ${response.status}`);
}

function notAccepted(reason: string): GatewayError {
  return new GatewayError(503, `The receiver of the result did not accept it: ${reason}.`, {
    code: "delivery_failed",
  });
}
