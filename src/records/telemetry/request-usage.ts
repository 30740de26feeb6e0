import { toProviderId } from "../../core/config/provider-id.ts";
import { readUsageDetails } from "../../core/conversation/usage-details.ts";
import type { RequestFacts, RequestOutcome } from "../../core/ports/request-outcome.ts";
import { type RequestUsage, UNKNOWN_MODEL } from "../../core/ports/usage.ts";

const PROVIDER_CODES = /^(?:upstream_|model_unavailable$|account_login_failed$)/;

/** Whether an error's code says that the provider or one of its accounts failed, not that it rejected an invalid request. */
const isProviderCode = (code: string): boolean => PROVIDER_CODES.test(code);

/** The outcome for the usage records: by the request's error, else by its status. */
function classifyOutcome(status: number, { error, attempts }: RequestFacts): string {
  if (error === undefined && status < 400) return "success";
  if (error === "request_cancelled" || status === 499) return "cancelled";
  return attempts === undefined ? "refused" : "error";
}

/**
 * Whether a refused request had reached a provider. The facts name only configured providers: a request for a known model
 * that was refused for lack of a slot had reached the default one.
 */
const hasProvider = (status: number, { provider, model = UNKNOWN_MODEL }: RequestFacts): boolean =>
  provider !== undefined || (model !== UNKNOWN_MODEL && (status === 429 || status >= 500));

/** Whether the provider failed at the last attempt, and that attempt is not listed as failed. */
export function hasUnlistedProviderError({ error, attempts, failedAttempts }: RequestFacts): boolean {
  return error !== undefined && isProviderCode(error) && failedAttempts?.at(-1)?.attempt !== (attempts ?? 0);
}

/** The usage of a request; null if it does not concern a provider. */
export function toRequestUsage({ status, durationMs, facts }: RequestOutcome): RequestUsage | null {
  const { dialect, operation } = facts;
  if (dialect === undefined || operation === undefined) return null;
  const outcome = classifyOutcome(status, facts);
  return {
    key: facts.key ?? "",
    requested_model: facts.requestedModel ?? "",
    model: facts.model ?? "",
    provider: outcome === "refused" && !hasProvider(status, facts) ? "" : toProviderId(facts.provider),
    account: facts.account ?? "",
    dialect,
    operation,
    outcome,
    team: facts.team ?? "",
    user: facts.user ?? "",
    tag: facts.tags ?? "",
    status: facts.errorStatus ?? status,
    code: facts.error ?? "",
    promptTokens: facts.promptTokens ?? 0,
    completionTokens: facts.completionTokens ?? 0,
    reasoningTokens: facts.reasoningTokens ?? 0,
    ...readUsageDetails(facts),
    attempts: facts.attempts ?? 0,
    ...(facts.cache === "hit" ? { isCacheHit: true } : {}),
    ...(outcome === "error" && hasUnlistedProviderError(facts) ? { isProviderError: true } : {}),
    ...(facts.failedAttempts === undefined
      ? {}
      : {
          failedAttempts: facts.failedAttempts.map((failed) => ({
            provider: failed.provider,
            account: failed.account,
            model: failed.model,
          })),
        }),
    durationMs,
    firstTokenMs: facts.firstTokenMs,
    queueMs: facts.queueMs,
  };
}
