import type { GenerationOutcome } from "../conversation/outcome.ts";
import type { Asked } from "./asked.ts";

/** A generation that is about to take a slot. */
export interface Admission extends Asked {
  /** Everything that the model will read, as one text: what estimates are made from. */
  readonly promptText: string;
}

/** A generation whose outcome is known. */
export interface EndedGeneration extends Asked {
  readonly outcome: GenerationOutcome;
}

/** Who takes part in a generation. */
export interface GenerationHooks {
  /**
   * Called in order before a slot is taken: the place for limits. What one throws is what the caller is told, and no slot
   * is touched.
   */
  readonly beforeSlot: readonly ((admission: Admission) => void | Promise<void>)[];
  /**
   * Called once when the outcome is known, be it success, failure or cancellation: the place for accounting. They run
   * before the answer ends, never wait and never throw.
   */
  readonly onOutcome: readonly ((generation: EndedGeneration) => void)[];
}

/** Notes in the log how a generation ended. */
function noteInLog({ context: { log }, outcome: { usage, code, statusCode } }: EndedGeneration): void {
  if (usage !== null) {
    // An administrator's test of many accounts is one request.
    log.promptTokens = (log.promptTokens ?? 0) + usage.prompt;
    log.completionTokens = (log.completionTokens ?? 0) + usage.completion;
    if (usage.cached !== undefined) log.cachedTokens = (log.cachedTokens ?? 0) + usage.cached;
    if (usage.reasoning > 0) log.reasoningTokens = (log.reasoningTokens ?? 0) + usage.reasoning;
  }
  if (code === "") return;
  log.error = code;
  log.errorStatus = statusCode;
}

/** Who takes part in every generation. */
export const HOOKS: GenerationHooks = { beforeSlot: [], onOutcome: [noteInLog] };
