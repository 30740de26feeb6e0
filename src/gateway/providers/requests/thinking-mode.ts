import type { Conversation } from "../../../core/conversation/conversation.ts";

/** Names of models that always think, such as `kimi-k2-thinking`, but not `grok-4-fast-non-reasoning`. */
const THINKING_NAME = /(?<!\bnon?)[-:](?:thinking|reasoning|reasoner)\b/i;

/**
 * How much a backend is asked to think whose models think only on request: yes, no, or as the model decides. The request
 * asks for it, or the name of the model does.
 */
export function selectThinkingMode({
  thinking,
  thinkingDefault,
  model,
}: Conversation): "on" | "off" | "model" {
  if (!thinking || !model.thinking) return "off";
  if (THINKING_NAME.test(model.requested) || THINKING_NAME.test(model.upstream)) return "on";
  return thinkingDefault ?? "on";
}
