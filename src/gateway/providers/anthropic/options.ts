import type { GenerationOptions } from "../../../core/conversation/conversation.ts";
import type { ProviderCapabilities } from "../provider.ts";

/** The generation options that the protocol has fields for. */
export const SUPPORTED_OPTIONS: ProviderCapabilities["options"] = new Set<keyof GenerationOptions>([
  "temperature",
  "topP",
  "topK",
  "stop",
  "maxTokens",
  "reasoningEffort",
  "thinkingBudget",
  "user",
]);
