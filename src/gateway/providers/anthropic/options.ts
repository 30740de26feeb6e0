import type { Sampling } from "../../../core/conversation/conversation.ts";
import type { ProviderCapabilities } from "../provider.ts";

/** The sampling options that the protocol has fields for. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof Sampling>([
  "temperature",
  "topP",
  "topK",
  "stop",
  "maxTokens",
  "reasoningEffort",
  "thinkingBudget",
  "user",
]);
