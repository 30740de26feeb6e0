import * as z from "zod";
import { type Config, type Webhook, webhookSchema } from "../config/schema.ts";
import { shownText } from "../config/secrets.ts";
import { toBase64 } from "../encoding/bytes.ts";
import { lazyObject } from "../encoding/lazy-schema.ts";
import { invalidRequest } from "../errors/gateway-error.ts";
import { ALERT_KINDS } from "../platform/alerts.ts";
import type { Context } from "../platform/context.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { checkPageUrl } from "../url-safety/index.ts";
import { changedRules, sentRulesSchema } from "./alert-rules.ts";
import { successSchema } from "./answers.ts";
import { edit } from "./edit.ts";
import { etagOf } from "./etag.ts";
import { missing } from "./refusals.ts";
import { sentObject } from "./sent-fields.ts";

function webhookViewSchema() {
  return z.object({
    id: z.string(),
    name: z.string(),
    /** Masked: the URL of a chat webhook is a secret. */
    url: z.string(),
    format: z.enum(["json", "chat", "discord"]),
    has_secret: z.boolean(),
    disabled: z.boolean(),
  });
}

/**
 * Request schema of a webhook. Omitted fields of an existing webhook keep their values. A new webhook gets a generated
 * secret.
 */
const sentWebhook = sentObject(
  () => ({
    id: webhookSchema.shape.id.optional(),
    name: webhookSchema.shape.name.unwrap().optional(),
    url: webhookSchema.shape.url.optional(),
    format: webhookSchema.shape.format.unwrap().optional(),
    secret: webhookSchema.shape.secret.optional(),
    disabled: webhookSchema.shape.disabled.unwrap().optional(),
  }),
  webhookViewSchema,
);

const ruleView = () => z.object({ enabled: z.boolean(), threshold: z.number(), quiet_minutes: z.int() });

const alertSchema = () => ({
  kind: z.enum([...ALERT_KINDS, "test"]),
  message: z.string(),
});

const viewSchema = () =>
  z.object({
    webhooks: z.array(webhookViewSchema()),
    rules: z.record(z.enum(ALERT_KINDS), ruleView()),
    firing: z.array(
      z.object({
        ...alertSchema(),
        subject: z.string(),
        value: z.number(),
        threshold: z.number(),
        since: z.int(),
      }),
    ),
    deliveries: z.array(
      z.object({
        ...alertSchema(),
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

const shownUrl = (url: string): string => shownText(webhookSchema.shape.url, url);

const newSecret = (): string => `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;

/** Returns the webhooks after an edit and the new secrets by id. Throws 400 for a URL that is not allowed. */
function saved(
  present: readonly Webhook[],
  sent: readonly z.output<typeof sentWebhook>[],
  { platform: { variables } }: Context,
): { webhooks: Webhook[]; secrets: Record<string, string> } {
  const secrets: Record<string, string> = {};
  const webhooks = sent.map((entry, index) => {
    const known = present.find(({ id }) => id === entry.id);
    const id = entry.id ?? `hook_${crypto.randomUUID().slice(0, 8)}`;
    const given = entry.url === undefined || (known !== undefined && entry.url === shownUrl(known.url));
    const url = given ? known?.url : entry.url;
    const field = `webhooks[${index}].url`;
    if (url === undefined) throw invalidRequest(`${field}: an address is needed`, field);
    const checked = checkPageUrl(url, { privateHosts: variables.pages.privateHosts });
    if (!checked.ok) throw invalidRequest(`${field}: ${checked.message}`, field);
    const secret = entry.secret ?? known?.secret ?? newSecret();
    if (entry.secret === undefined && known === undefined) secrets[id] = secret;
    return {
      id,
      name: entry.name ?? known?.name ?? "",
      url: checked.url.href,
      format: entry.format ?? known?.format ?? ("json" as const),
      secret,
      disabled: entry.disabled ?? known?.disabled ?? false,
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
): Promise<z.output<ReturnType<typeof viewSchema>>> {
  const { firing, deliveries } = await platform.alerts.status();
  return {
    webhooks: alerts.webhooks.map(({ id, name, url, format, secret, disabled }) => ({
      id,
      name,
      url: shownUrl(url),
      format,
      has_secret: secret !== "",
      disabled,
    })),
    rules: alerts.rules,
    firing: firing.filter(({ since }) => since > 0),
    deliveries: [...deliveries],
  };
}

export const ALERT_ENDPOINTS: readonly Endpoint[] = [
  forAdministrators({
    method: "GET",
    path: "/admin/alerts",
    summary: "Who is told of trouble, of which, and what was told",
    answers: json(viewSchema),
    handler: async (context) => {
      const { config } = await context.platform.configuration.readFresh();
      return Response.json(await alertsView(config, context));
    },
  }),
  forAdministrators({
    method: "PUT",
    path: "/admin/alerts",
    summary: "Change webhooks and rules of alerts",
    body: sentObject(
      () => ({ webhooks: z.array(sentWebhook).max(20).optional(), rules: sentRulesSchema.optional() }),
      viewSchema,
    ),
    answers: json(savedSchema),
    handler: async (context, { body }) => {
      let secrets: Record<string, string> = {};
      const change = (current: Config): Config => {
        const { alerts } = current;
        const made = body.webhooks === undefined ? null : saved(alerts.webhooks, body.webhooks, context);
        secrets = made?.secrets ?? {};
        return {
          ...current,
          alerts: {
            webhooks: made?.webhooks ?? alerts.webhooks,
            rules: changedRules(alerts.rules, body.rules ?? {}),
          },
        };
      };
      const present = (await context.config()).config.alerts.webhooks;
      const kept = new Set((body.webhooks ?? present).map(({ id }) => id));
      // Save the previous configuration if a webhook is removed, so that the removal can be undone.
      const keep = present.some(({ id }) => !kept.has(id));
      const { version } = await edit(context, change, { keep });
      await context.platform.alerts.look();
      const told = Object.keys(secrets).length === 0 ? {} : { secrets };
      const headers = { "cache-control": "no-store", ...(keep && { etag: etagOf(version) }) };
      return Response.json({ success: true, ...told }, { headers });
    },
  }),
  forAdministrators({
    method: "POST",
    path: "/admin/alerts/test",
    summary: "Send a webhook something",
    body: lazyObject(() => ({ webhook: z.string() })),
    answers: json(() => z.object({ success: z.boolean(), status: z.int(), message: z.string() })),
    handler: async ({ platform }, { body }) => {
      const outcome = await platform.alerts.test(body.webhook);
      if (outcome === null) throw missing("the webhook");
      return Response.json(outcome);
    },
  }),
];
