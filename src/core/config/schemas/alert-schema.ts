import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { markSecret } from "../marked-secrets.ts";
import { privateHostsSchema } from "./shared-fields.ts";

/** A destination of alerts. */
export const webhookSchema = lazyObject(() => ({
  id: z.string().trim().min(1).max(64),
  name: z.string().default(""),
  /** A secret: the URL of a chat's webhook is enough to write there. */
  url: markSecret(z.string().trim().min(1).max(2_000), "origin"),
  /** `json`: all fields, for programs. The other two are formats of chat tools. */
  format: z.enum(["json", "chat", "discord"]).default("json"),
  /** Signs the messages (Standard Webhooks): `whsec_` and base64. */
  secret: markSecret(z.string().regex(/^whsec_[A-Za-z\d+/]{22,128}={0,2}$/, "must be whsec_ and base64")),
  disabled: z.boolean().default(false),
  /** The rules whose alerts it gets; absent: all rules, also those of later versions. */
  rules: z.array(alertRulesSchema.keyof()).min(1).optional(),
}));

/** When to alert, and how long to wait before repeating. */
const alertRule = (threshold: number, max: number) =>
  z
    .object({
      enabled: z.boolean().default(true),
      threshold: z.number().min(0).max(max).default(threshold),
      quiet_minutes: z.number().int().min(1).max(10_080).default(60),
    })
    .prefault({});

/** The alert rules. Thresholds are percentages, or numbers of requests or accounts. */
export const alertRulesSchema = lazyObject(() => ({
  error_rate: alertRule(20, 100),
  queue_depth: alertRule(10, 200_000),
  cooling_accounts: alertRule(1, 100_000),
  empty_pool: alertRule(0, 100_000),
  budget: alertRule(80, 100),
  sync_failed: alertRule(0, 0),
  provider_down: alertRule(0, 0),
}));

export const alertsSchema = lazyObject(() => ({
  webhooks: z.array(webhookSchema).max(20).default([]),
  private_hosts: privateHostsSchema().default([]),
  rules: alertRulesSchema.prefault({}),
}));

export type Webhook = z.output<typeof webhookSchema>;
export type AlertRules = z.output<typeof alertRulesSchema>;
