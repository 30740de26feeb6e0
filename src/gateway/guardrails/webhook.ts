import type { Config } from "../../core/config/schema.ts";
import type { Guardrail } from "../../core/config/schemas/guardrail-schema.ts";
import { checkWebhookUrl } from "../../core/config/webhook-url.ts";
import { isObject } from "../../core/encoding/json.ts";
import type { Platform } from "../../core/ports/platform.ts";
import { readBounded } from "../providers/transport.ts";
import { createCheckFailure, createDenial } from "./denial.ts";

/** What a webhook needs to be asked. */
export interface WebhookAccess {
  readonly platform: Pick<Platform, "fetch" | "deploymentFetch">;
  readonly privateHosts: Config["guardrails"]["private_hosts"];
}

/** Longest answer of a webhook, bytes. */
const MAX_ANSWER_BYTES = 1_000_000;

/**
 * Asks a webhook whether it flags one of the texts, in the form of OpenAI's `POST /v1/moderations`.
 *
 * @throws GatewayError if it does, or if it does not answer and the rule then denies
 */
export async function askWebhook(
  { platform, privateHosts }: WebhookAccess,
  rule: Guardrail,
  input: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let isFlagged: boolean;
  try {
    isFlagged = await readVerdict(platform, rule, input, privateHosts, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (rule.on_failure === "allow") return;
    throw createCheckFailure(rule, error);
  }
  if (isFlagged) throw createDenial(rule);
}

async function readVerdict(
  { fetch: publicFetch, deploymentFetch }: WebhookAccess["platform"],
  { url, token, model, timeout_ms }: Guardrail,
  input: readonly string[],
  private_hosts: WebhookAccess["privateHosts"],
  signal: AbortSignal,
): Promise<boolean> {
  const checked = checkWebhookUrl(url, { private_hosts }, "guardrails");
  if (!checked.ok) throw new Error(checked.message);
  const fetch = checked.isListed ? deploymentFetch : publicFetch;
  const response = await fetch(checked.url.href, {
    method: "POST",
    // The check of the address does not cover the redirect's target.
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]),
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": "Polygate",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ ...(model === "" ? {} : { model }), input }),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the webhook answered ${response.status}`);
  }
  const { text, whole } = await readBounded(response, MAX_ANSWER_BYTES);
  if (!whole) throw new Error("the webhook's answer is too long or was cut off");
  const answer: unknown = JSON.parse(text);
  const results: unknown = isObject(answer) ? answer["results"] : undefined;
  if (!Array.isArray(results) || results.length === 0) throw new Error("the webhook's answer has no results");
  return results.map(readFlag).includes(true);
}

function readFlag(result: unknown): boolean {
  const flagged = isObject(result) ? result["flagged"] : undefined;
  if (typeof flagged !== "boolean") throw new Error("a result of the webhook has no flagged");
  return flagged;
}
