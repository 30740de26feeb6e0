import type { GenerationEvent } from "../../core/conversation/events.ts";
import { memoryExhausted } from "../../core/http/memory-budget.ts";
import type { GenerationJob } from "./generation-job.ts";

/** Memory per character of an answer, in bytes: one for the recorded copy, one for the sent copy. */
const BYTES_PER_CHARACTER = 2;

/**
 * Charges an answer's growth to the memory budget until the request ends. When the budget is exhausted, a pass-through
 * caller's generation ends with 503; a managed key's continues.
 */
export function chargeAnswerMemory(job: GenerationJob, events: readonly GenerationEvent[]): void {
  let characters = 0;
  for (const event of events) {
    if ("text" in event) characters += event.text.length;
    else if (event.type === "tool-arguments") characters += event.delta.length;
  }
  if (characters > 0) chargeBytes(job, characters * BYTES_PER_CHARACTER);
}

/** Charges bytes that an answer holds, with the same consequence. */
export function chargeBytes({ context, abort }: GenerationJob, bytes: number): void {
  const { memory: reservation } = context;
  if (!reservation.tryReserve(bytes) && !reservation.isKnown) abort.abort(memoryExhausted());
}
