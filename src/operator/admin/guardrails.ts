import * as z from "zod";
import { type Guardrail, guardrailSchema, MAX_GUARDRAILS } from "../../core/config/guardrails.ts";
import { type Config, privateHostsSchema } from "../../core/config/schema.ts";
import { maskText } from "../../core/config/secret-masking.ts";
import { checkWebhookUrl } from "../../core/config/webhook-url.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../core/routing/endpoint.ts";
import { compileExpression } from "../../gateway/guardrails/expressions.ts";
import { successSchema } from "./answers.ts";
import { editConfig } from "./config-edit.ts";
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
      reject(`expressions[${index}].pattern`, `no regular expression of RE2: ${fault}`);
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
] satisfies readonly Endpoint[];
