import { NO_USAGE_DETAILS } from "../../../../src/core/ports/usage.ts";
import type { UsageItem } from "../../../../src/operator/console/api/usage.ts";

/** The usage of a time without requests. */
export const NO_USAGE: UsageItem = {
  at: 0,
  requests: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  refused: 0,
  cache_hits: 0,
  provider_errors: 0,
  attempts: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  total_tokens: 0,
  ...NO_USAGE_DETAILS,
  cost: 0,
  first_token_ms: null,
  duration_ms: null,
  queue_ms: null,
};
