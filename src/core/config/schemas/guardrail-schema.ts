import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { ENTRY_ID_RULE } from "../entry-id.ts";
import { markSecret } from "../marked-secrets.ts";

/** A regular expression in the syntax of RE2, and what happens to text that matches it. */
const guardrailExpressionSchema = lazyObject(() => ({
  pattern: z.string().min(1).max(1_000),
  action: z.enum(["deny", "mask"]).default("deny"),
  /** Takes the place of masked text. */
  replacement: z.string().max(200).default("[removed]"),
}));

/** A check of requests (`before`), of answers (`after`), or of both. */
export const guardrailSchema = lazyObject(() => ({
  id: z
    .string()
    .trim()
    .regex(/^[\w.-]{1,64}$/, ENTRY_ID_RULE),
  name: z.string().max(200).default(""),
  type: z.enum(["expressions", "size", "webhook"]),
  stage: z.enum(["before", "after", "both"]).default("both"),
  /** `keys`: only for requests whose key, user, team or tag names it in its `guardrails`. */
  applies_to: z.enum(["all", "keys"]).default("all"),
  disabled: z.boolean().default(false),
  /** Of the type `expressions`. */
  expressions: z.array(guardrailExpressionSchema).max(100).default([]),
  /** Of the type `size`: most characters of all texts together. */
  max_chars: z.int().min(0).default(0),
  /** Of the type `webhook`: an address that answers as `POST /v1/moderations` of OpenAI does. Its path may be a secret. */
  url: markSecret(z.string().trim().max(2_000).default(""), "origin"),
  /** The webhook's bearer token. */
  token: markSecret(z.string().trim().max(2_000).default("")),
  /** The `model` that the webhook is asked for; empty: none. */
  model: z.string().trim().max(200).default(""),
  timeout_ms: z.int().min(100).max(60_000).default(5_000),
  /** What happens when the webhook gives no answer. */
  on_failure: z.enum(["deny", "allow"]).default("deny"),
}));

export type Guardrail = z.output<typeof guardrailSchema>;

/** Most rules of a configuration. */
export const MAX_GUARDRAILS = 50;
