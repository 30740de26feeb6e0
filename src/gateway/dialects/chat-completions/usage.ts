import type { Usage } from "../../../core/conversation/events.ts";

/** Builds `usage` of a chat completion (docs/contract/answers.md, Chat completion). */
export function toChatUsage(usage: Usage): Record<string, unknown> {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: {
      cached_tokens: usage.cached ?? 0,
      cache_write_tokens: usage.cacheWritten ?? 0,
      ...(usage.audioInput ? { audio_tokens: usage.audioInput } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...(usage.audioOutput ? { audio_tokens: usage.audioOutput } : {}),
    },
  };
}
