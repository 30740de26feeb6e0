import type { GenerationOutcome } from "../../core/conversation/outcome.ts";
import { addUsageDetails } from "../../core/conversation/usage-details.ts";
import type { GenerationInput } from "./generation-input.ts";

/** A generation that is about to acquire a slot. */
export interface Admission extends GenerationInput {
  /** The whole prompt as one text, for estimates. */
  readonly promptText: string;
}

/** A generation with its outcome. */
export interface EndedGeneration extends GenerationInput {
  readonly outcome: GenerationOutcome;
}

/** Functions that are called before and after a generation. */
export interface GenerationHooks {
  /**
   * Called in order before a slot is acquired. If one throws, the caller gets its error and no slot is acquired. The program
   * itself adds none: the pool counts the limits of keys when it grants a slot.
   */
  readonly beforeSlot: readonly ((admission: Admission) => void | Promise<void>)[];
  /**
   * Called once when the outcome is known (success, failure or cancellation), for accounting. They run before the answer
   * ends. They must not wait and must not throw.
   */
  readonly onOutcome: readonly ((generation: EndedGeneration) => void)[];
}

/** Writes a generation's outcome to the log. */
function logOutcome({ context: { facts }, outcome: { usage, code, statusCode } }: EndedGeneration): void {
  if (usage !== null) {
    // The counts are sums: an administrator's test of many accounts is one request.
    facts.promptTokens = (facts.promptTokens ?? 0) + usage.prompt;
    facts.completionTokens = (facts.completionTokens ?? 0) + usage.completion;
    if (usage.reasoning > 0) facts.reasoningTokens = (facts.reasoningTokens ?? 0) + usage.reasoning;
    addUsageDetails(facts, usage);
  }
  if (code === "") return;
  facts.error = code;
  facts.errorStatus = statusCode;
}

/** The hooks of every generation. */
export const DEFAULT_HOOKS: GenerationHooks = { beforeSlot: [], onOutcome: [logOutcome] };
