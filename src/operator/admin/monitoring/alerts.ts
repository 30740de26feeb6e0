import * as z from "zod";
import { maskText } from "../../../core/config/marked-secrets.ts";
import type { Config } from "../../../core/config/schema.ts";
import { type Webhook, webhookSchema } from "../../../core/config/schemas/alert-schema.ts";
import { privateHostsSchema } from "../../../core/config/schemas/shared-fields.ts";
import { checkWebhookUrl } from "../../../core/config/webhook-url.ts";
import { toBase64 } from "../../../core/encoding/bytes.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { ALERT_KINDS } from "../../../core/ports/alerts.ts";
import type { Context } from "../../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";
import { ENTRY_HEADERS, entryResponse, formatEtag, IF_MATCH } from "../etag.ts";
import { requestObject } from "../request-fields.ts";
import { notFoundError } from "../resource-errors.ts";
import { alertRulesRequestSchema, mergeRules } from "./alert-rules-request.ts";

function webhookViewSchema() {
  return z.object({
    id: z.string(),
    name: z.string(),
    /** Masked: the URL of a chat webhook is a secret. */
    url: z.string(),
    format: z.enum(["json", "chat", "discord"]),
    has_secret: z.boolean(),
    disabled: z.boolean(),
    /** Absent: all rules. */
    rules: webhookSchema.shape.rules,
  });
}

/**
 * Request schema of a webhook. Omitted fields of an existing webhook keep their values. A new webhook gets a generated
 * secret.
 */
const webhookRequestSchema = requestObject(
  () => ({
    id: webhookSchema.shape.id.optional(),
    name: webhookSchema.shape.name.unwrap().optional(),
    url: webhookSchema.shape.url.optional(),
    format: webhookSchema.shape.format.unwrap().optional(),
    secret: webhookSchema.shape.secret.optional(),
    disabled: webhookSchema.shape.disabled.unwrap().optional(),
    /** null: all rules. */
    rules: webhookSchema.shape.rules.nullable(),
  }),
  webhookViewSchema,
);

const ruleViewSchema = () =>
  z.object({ enabled: z.boolean(), threshold: z.number(), quiet_minutes: z.int() });

const alertShape = () => ({
  kind: z.enum([...ALERT_KINDS, "test"]),
  message: z.string(),
});

const alertsViewSchema = () =>
  z.object({
    webhooks: z.array(webhookViewSchema()),
    /** Hosts in private networks that webhooks may use. */
    private_hosts: z.array(z.string()),
    rules: z.record(z.enum(ALERT_KINDS), ruleViewSchema()),
    firing: z.array(
      z.object({
        ...alertShape(),
        subject: z.string(),
        value: z.number(),
        threshold: z.number(),
        since: z.int(),
      }),
    ),
    deliveries: z.array(
      z.object({
        ...alertShape(),
        at: z.int(),
        webhook: z.string(),
        attempts: z.int(),
        error: z.string(),
        pending: z.boolean(),
      }),
    ),
  });

/** `secrets` holds the secrets that this edit generated. No later response contains them. */
const savedSchema = () => successSchema().extend({ secrets: z.record(z.string(), z.string()).optional() });

const maskUrl = (url: string): string => maskText(webhookSchema.shape.url, url);

const createWebhookSecret = (): string => `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;

/** Returns the webhooks after an edit and the new secrets by id. Throws 400 for a URL that is not allowed. */
function mergeWebhooks(
  { webhooks: current, private_hosts }: Pick<Config["alerts"], "webhooks" | "private_hosts">,
  sent: readonly z.output<typeof webhookRequestSchema>[],
): { webhooks: Webhook[]; secrets: Record<string, string> } {
  const secrets: Record<string, string> = {};
  const webhooks = sent.map((entry, index) => {
    const stored = current.find(({ id }) => id === entry.id);
    const id = entry.id ?? `hook_${crypto.randomUUID().slice(0, 8)}`;
    const isUnchanged =
      entry.url === undefined || (stored !== undefined && entry.url === maskUrl(stored.url));
    const url = isUnchanged ? stored?.url : entry.url;
    const field = `webhooks[${index}].url`;
    if (url === undefined) throw invalidRequest(`${field}: an address is needed`, field);
    const checked = checkWebhookUrl(url, { private_hosts });
    if (!checked.ok) throw invalidRequest(`${field}: ${checked.message}`, field);
    const secret = entry.secret ?? stored?.secret ?? createWebhookSecret();
    if (entry.secret === undefined && stored === undefined) secrets[id] = secret;
    const rules = entry.rules === undefined ? stored?.rules : entry.rules;
    return {
      id,
      name: entry.name ?? stored?.name ?? "",
      url: checked.url.href,
      format: entry.format ?? stored?.format ?? ("json" as const),
      secret,
      disabled: entry.disabled ?? stored?.disabled ?? false,
      ...(rules != null && { rules }),
    };
  });
  if (new Set(webhooks.map(({ id }) => id)).size < webhooks.length) {
    throw invalidRequest("webhooks: two have the same id", "webhooks");
  }
  return { webhooks, secrets };
}

async function alertsView(
  { alerts }: Config,
  { platform }: Context,
): Promise<z.output<ReturnType<typeof alertsViewSchema>>> {
  const { firing, deliveries } = await platform.alerts.getStatus();
  return {
    webhooks: alerts.webhooks.map(({ id, name, url, format, secret, disabled, rules }) => ({
      id,
      name,
      url: maskUrl(url),
      format,
      has_secret: secret !== "",
      disabled,
      ...(rules !== undefined && { rules }),
    })),
    private_hosts: alerts.private_hosts,
    rules: alerts.rules,
    firing: firing.filter(({ since }) => since > 0),
    deliveries: [...deliveries],
  };
}

export const ALERT_ENDPOINTS = [
  adminEndpoint({
    method: "GET",
    path: "/admin/alerts",
    summary: "Webhooks and rules of alerts, and recent deliveries",
    answers: jsonResponse(alertsViewSchema),
    ...ENTRY_HEADERS,
    handler: async (context) => {
      const { config } = await context.platform.configuration.readFresh();
      return entryResponse(config, config.alerts, await alertsView(config, context));
    },
  }),
  adminEndpoint({
    method: "PUT",
    path: "/admin/alerts",
    summary: "Change webhooks and rules of alerts",
    body: requestObject(
      () => ({
        webhooks: z.array(webhookRequestSchema).max(20).optional(),
        private_hosts: privateHostsSchema().optional(),
        rules: alertRulesRequestSchema.optional(),
      }),
      alertsViewSchema,
    ),
    answers: jsonResponse(savedSchema),
    ...IF_MATCH,
    handler: async (context, { body }) => {
      let secrets: Record<string, string> = {};
      const change = (current: Config): Config => {
        const { alerts } = current;
        const private_hosts = body.private_hosts ?? alerts.private_hosts;
        const merged =
          body.webhooks === undefined
            ? null
            : mergeWebhooks({ webhooks: alerts.webhooks, private_hosts }, body.webhooks);
        secrets = merged?.secrets ?? {};
        return {
          ...current,
          alerts: {
            webhooks: merged?.webhooks ?? alerts.webhooks,
            private_hosts,
            rules: mergeRules(alerts.rules, body.rules ?? {}),
          },
        };
      };
      const current = (await context.config()).config.alerts.webhooks;
      const remainingIds = new Set((body.webhooks ?? current).map(({ id }) => id));
      // Save the previous configuration if a webhook is removed, so that the removal can be undone.
      const keep = current.some(({ id }) => !remainingIds.has(id));
      const { version } = await editConfig(context, change, { keep, entry: ({ alerts }) => alerts });
      await context.platform.alerts.startChecks();
      const newSecrets = Object.keys(secrets).length === 0 ? {} : { secrets };
      const headers = { "cache-control": "no-store", ...(keep && { etag: formatEtag(version) }) };
      return Response.json({ success: true, ...newSecrets }, { headers });
    },
  }),
  adminEndpoint({
    method: "POST",
    path: "/admin/alerts/test",
    summary: "Send a test message to a webhook",
    body: lazyObject(() => ({ webhook: z.string() })),
    answers: jsonResponse(() => z.object({ success: z.boolean(), status: z.int(), message: z.string() })),
    handler: async ({ platform }, { body }) => {
      const outcome = await platform.alerts.sendTestAlert(body.webhook);
      if (outcome === null) throw notFoundError("the webhook");
      return Response.json(outcome);
    },
  }),
] satisfies readonly Endpoint[];
