import type { HistoryMode } from "../../core/config/history-mode.ts";
import { redactText } from "../../core/encoding/redaction.ts";
import { truncateText } from "../../core/encoding/text-slices.ts";
import type { ErrorCode } from "../../core/errors/gateway-error.ts";
import { limitForHistory, MAX_LABEL } from "./stored-text.ts";

/** Only the gateway words these errors, and it quotes no text of a conversation in them. */
const OWN_MESSAGES: ReadonlySet<string> = new Set<ErrorCode>([
  "account_pool_unavailable",
  "concurrency_limit_exceeded",
  "insufficient_quota",
  "internal_error",
  "overloaded",
  "rate_limit_exceeded",
  "request_cancelled",
  "request_timeout",
]);

/**
 * Returns the part of an error's message that the history mode allows to store. In the modes without texts, the error's code
 * replaces a message that may quote the conversation.
 */
export function limitErrorForHistory(message: string, code: string, mode: HistoryMode | undefined): string {
  if (mode === undefined) return truncateText(message, MAX_LABEL);
  if (mode === "redacted") return limitForHistory(message, mode, MAX_LABEL);
  if (message === "") return "";
  // It may name a tag, which callers choose.
  if (OWN_MESSAGES.has(code)) return truncateText(redactText(message), MAX_LABEL);
  return `the request failed: ${code.replaceAll("_", " ")}`;
}
