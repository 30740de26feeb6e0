import type { Usage } from "../../conversation/events.ts";

/** `usage` of a chat completion (contract, Chat completion). */
export function chatUsage(usage: Usage): Record<string, unknown> {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
