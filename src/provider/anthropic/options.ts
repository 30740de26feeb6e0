import type { Sampling } from "../../conversation/conversation.ts";
import type { Abilities } from "../provider.ts";

/** The sampling options that the protocol has fields for. */
export const OPTIONS: Abilities["options"] = new Set<keyof Sampling>([
  "temperature",
  "topP",
  "topK",
  "stop",
  "maxTokens",
  "reasoningEffort",
  "thinkingBudget",
  "user",
]);
