import type { HistoryMode } from "../../core/config/history-mode.ts";
import { redactText } from "../../core/encoding/redaction.ts";
import {
  describeFailedStatus,
  hasProviderWords,
  omitProviderWords,
} from "../../core/errors/failure-message.ts";
import { ProviderError } from "../../core/errors/provider-error.ts";
import type { FaultParty } from "../../core/ports/account-status.ts";
import type { AccountFailure } from "../../core/ports/accounts.ts";
import { ProxyFailure } from "../upstream/proxy/failure.ts";

/**
 * Attributes a failure to the account, its proxy or the provider. Null: to none of them, for example an error of the caller
 * or a model that the provider does not have.
 */
export function attributeFault(error: unknown): FaultParty | null {
  if (!(error instanceof ProviderError)) return null;
  // After the handshake a proxy only forwards what the provider does.
  if (error instanceof ProxyFailure && error.stage !== "answer") return "proxy";
  switch (error.kind) {
    case "invalid_credentials":
    case "token_expired":
    case "account_suspended":
    case "rate_limited":
      return "account";
    case "server_error":
    case "unreachable":
    case "malformed":
    case "cut":
    case "timeout":
      return "provider";
    case "model_unavailable":
      return error.status === 0 || error.status >= 500 ? "provider" : null;
    case "not_found":
    case "too_large":
    case "invalid_request":
    case "context_length":
    case "content_filter":
      return null;
  }
}

/**
 * Converts a failure to plain data. An error that is no `ProviderError` blames no party.
 *
 * @param mode the history mode of the request: administrators see the failure, so the provider's words obey it
 */
export function toAccountFailure(error: unknown, mode?: HistoryMode): AccountFailure {
  if (!(error instanceof ProviderError)) {
    return {
      kind: "unreachable",
      message: "the account could not be used",
      status: 0,
      fault: null,
      retryAfter: null,
    };
  }
  const { kind, status, retryAfter } = error;
  const { message, upstreamWords } = limitWords(error, mode);
  return {
    kind,
    message,
    status,
    fault: attributeFault(error),
    retryAfter,
    ...(upstreamWords === "" ? {} : { upstreamWords }),
    ...(hasProviderWords(error) ? { isQuote: true } : {}),
  };
}

function limitWords(
  error: ProviderError,
  mode: HistoryMode | undefined,
): Pick<ProviderError, "message" | "upstreamWords"> {
  if (mode === undefined || mode === "full") return error;
  if (mode !== "redacted") return { message: redactText(omitProviderWords(error)), upstreamWords: "" };
  return { message: redactText(error.message), upstreamWords: redactText(error.upstreamWords) };
}

/** The error for a caller whose request the pool refuses because the requests of others have failed. */
export function toOutageError(failure: AccountFailure): ProviderError {
  const error = toProviderError(failure);
  if (failure.isQuote !== true) return error;
  const { kind, status, retryAfter } = error;
  return new ProviderError(kind, describeFailedStatus(status), { status, retryAfter });
}

/** Converts plain data back to the error. */
export function toProviderError(failure: AccountFailure): ProviderError {
  const { kind, message, status, fault, retryAfter, upstreamWords } = failure;
  if (fault === "proxy") return new ProxyFailure("proxy", message);
  return new ProviderError(kind, message, { status, retryAfter, upstreamWords });
}
