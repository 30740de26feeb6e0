import * as z from "zod";
import { maskText } from "../../core/config/marked-secrets.ts";
import type { Config } from "../../core/config/schema.ts";
import {
  type Guardrail,
  guardrailSchema,
  MAX_GUARDRAILS,
} from "../../core/config/schemas/guardrail-schema.ts";
import { privateHostsSchema } from "../../core/config/schemas/shared-fields.ts";
import { checkWebhookUrl } from "../../core/config/webhook-url.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { Denial } from "../../gateway/guardrails/denial.ts";
import { compileExpression } from "../../gateway/guardrails/expressions.ts";
import { TextChecker } from "../../gateway/guardrails/text-checker.ts";
import { successSchema } from "./answers.ts";
import { editConfig } from "./editing/config-edit.ts";
import { ENTRY_HEADERS, entryEtag, formatEtag, IF_MATCH } from "./etag.ts";
import { requestObject } from "./request-fields.ts";

const ruleViewSchema = () =>
  guardrailSchema.omit({ token: true }).extend({
    /** Masked: only the origin is shown. */
    url: z.string(),
    has_token: z.boolean(),
  });

/** A rule as it is sent. A token that is left out, and an address as the view shows it, keep the stored values. */
const ruleRequestSchema = requestObject(
  () => ({ ...guardrailSchema.shape, token: z.string().trim().max(2_000).optional() }),
  ruleViewSchema,
);

const guardrailsViewSchema = () =>
  z.object({
    rules: z.array(ruleViewSchema()),
    private_hosts: z.array(z.string()),
    unchecked_endpoints: z.enum(["refuse", "allow"]),
  });

const maskUrl = (url: string): string => maskText(guardrailSchema.shape.url, url);

function toView({ guardrails }: Config): z.output<ReturnType<typeof guardrailsViewSchema>> {
  const { rules, private_hosts, unchecked_endpoints } = guardrails;
  return {
    rules: rules.map(({ token, url, ...rule }) => ({ ...rule, url: maskUrl(url), has_token: token !== "" })),
    private_hosts,
    unchecked_endpoints,
  };
}

/** Rejects a rule that could never be checked. Throws a 400 that names the field. */
function assertUsable(
  { type, expressions, max_chars, url }: Guardrail,
  private_hosts: readonly string[],
  field: string,
): void {
  const reject = (name: string, message: string) => {
    throw invalidRequest(`${field}.${name}: ${message}`, `${field}.${name}`);
  };
  if (type === "expressions" && expressions.length === 0) reject("expressions", "at least one is needed");
  for (const [index, { pattern }] of expressions.entries()) {
    try {
      compileExpression(pattern);
    } catch (error) {
      const fault = error instanceof Error ? error.message : "it is invalid";
      reject(`expressions[${index}].pattern`, `not a regular expression of RE2: ${fault}`);
    }
  }
  if (type === "size" && max_chars === 0) reject("max_chars", "must be at least 1");
  if (type !== "webhook") return;
  const checked = checkWebhookUrl(url, { private_hosts }, "guardrails");
  if (!checked.ok) reject("url", checked.message);
}

/** The rules after an edit. */
function mergeRules(
  stored: readonly Guardrail[],
  sent: readonly z.output<typeof ruleRequestSchema>[],
  privateHosts: readonly string[],
): Guardrail[] {
  const merged = sent.map((entry, index) => {
    const known = stored.find(({ id }) => id === entry.id);
    const isSameUrl = known !== undefined && (entry.url === "" || entry.url === maskUrl(known.url));
    const url = isSameUrl ? known.url : entry.url;
    // The token of one host is not sent to another.
    const keepsToken = entry.token === undefined && known?.url === url;
    const { has_token: _, ...fields }: typeof entry & { has_token?: unknown } = entry;
    const rule = { ...fields, url, token: keepsToken ? (known?.token ?? "") : (entry.token ?? "") };
    assertUsable(rule, privateHosts, `rules[${index}]`);
    return rule;
  });
  if (new Set(merged.map(({ id }) => id)).size < merged.length)
    throw invalidRequest("rules: two have the same id", "rules");
  return merged;
}

/** Most characters of a text that is only tried. */
const MAX_TRIED = 100_000;

/** A text, and the rules to try on it: without `rules` those that are stored. */
const checkSchema = requestObject(() => ({
  text: z.string().max(MAX_TRIED),
  /** As what the text is checked: part of a request (`before`) or of an answer (`after`). */
  stage: z.enum(["before", "after"]).default("before"),
  rules: z.array(ruleRequestSchema).max(MAX_GUARDRAILS).optional(),
  private_hosts: privateHostsSchema().optional(),
}));

const verdictSchema = () =>
  z.object({
    allowed: z.boolean(),
    /** Whether a rule has replaced a part of the text. */
    masked: z.boolean(),
    /** The text as the provider or the caller would get it; empty if it is denied. */
    text: z.string(),
    /** Why the text is denied; empty if it is allowed. */
    message: z.string(),
  });

/** Checks a text as a request or an answer is checked. Webhooks are asked. */
async function checkText(
  { platform, request }: Context,
  { guardrails }: Config,
  { text, stage, rules, private_hosts }: z.output<typeof checkSchema>,
): Promise<z.output<ReturnType<typeof verdictSchema>>> {
  const privateHosts = private_hosts ?? guardrails.private_hosts;
  const tried = rules === undefined ? guardrails.rules : mergeRules(guardrails.rules, rules, privateHosts);
  const unused = stage === "before" ? "after" : "before";
  const checker = new TextChecker(tried.filter((rule) => !rule.disabled && rule.stage !== unused));
  try {
    const masked = await checker.mask(text);
    await checker.askWebhooks({ platform, privateHosts }, request.signal);
    return { allowed: true, masked: masked !== text, text: masked, message: "" };
  } catch (error) {
    if (!(error instanceof Denial)) throw error;
    return { allowed: false, masked: false, text: "", message: error.message };
  }
}

export const GUARDRAIL_ENDPOINTS = [
  adminEndpoint({
    method: "GET",
    path: "/admin/guardrails",
    summary: "Checks of requests and answers",
    answers: jsonResponse(guardrailsViewSchema),
    ...ENTRY_HEADERS,
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      return Response.json(toView(config), { headers: { etag: await entryEtag(config, config.guardrails) } });
    },
  }),
  adminEndpoint({
    method: "PUT",
    path: "/admin/guardrails",
    summary: "Change the checks of requests and answers",
    body: requestObject(
      () => ({
        rules: z.array(ruleRequestSchema).max(MAX_GUARDRAILS).optional(),
        private_hosts: privateHostsSchema().optional(),
        unchecked_endpoints: z.enum(["refuse", "allow"]).optional(),
      }),
      guardrailsViewSchema,
    ),
    answers: jsonResponse(successSchema),
    ...IF_MATCH,
    handler: async (context, { body }) => {
      const change = (current: Config): Config => {
        const { rules, private_hosts, unchecked_endpoints } = current.guardrails;
        const hosts = body.private_hosts ?? private_hosts;
        const merged = body.rules === undefined ? rules : mergeRules(rules, body.rules, hosts);
        return {
          ...current,
          guardrails: {
            rules: merged,
            private_hosts: hosts,
            unchecked_endpoints: body.unchecked_endpoints ?? unchecked_endpoints,
          },
        };
      };
      const { rules } = (await context.config()).config.guardrails;
      const remaining = new Set((body.rules ?? rules).map(({ id }) => id));
      // Save the previous configuration if a rule is removed, so that the removal can be undone.
      const keep = rules.some(({ id }) => !remaining.has(id));
      const { version } = await editConfig(context, change, {
        keep,
        entry: (config) => config.guardrails,
      });
      return Response.json({ success: true }, { headers: keep ? { etag: formatEtag(version) } : {} });
    },
  }),
  /** `POST /admin/guardrails/check`: what rules do with a text, also before they are saved. */
  adminEndpoint({
    method: "POST",
    path: "/admin/guardrails/check",
    summary: "Try guardrails on a text",
    body: checkSchema,
    answers: jsonResponse(verdictSchema),
    handler: async (context, { body }) =>
      Response.json(await checkText(context, (await context.config()).config, body)),
  }),
] satisfies readonly Endpoint[];
