import type { GenerationEvent } from "../conversation/events.ts";
import { overloaded } from "../http/body-budget.ts";
import type { GenerationJob } from "./job.ts";

/** Memory for each character of an answer, in bytes: the answer as it is recorded, and as it is sent. */
const CHARACTER_COST = 2;

/**
 * Counts what an answer has grown by in the memory budget, until the request is over. Without memory for it a stranger's
 * generation ends with 503; a managed key's goes on.
 */
export function holdAnswer({ context, abort }: GenerationJob, events: readonly GenerationEvent[]): void {
  let characters = 0;
  for (const event of events) {
    if ("text" in event) characters += event.text.length;
    else if (event.type === "tool-arguments") characters += event.delta.length;
  }
  const { hold } = context;
  if (!hold.take(characters * CHARACTER_COST) && !hold.trusted) abort.abort(overloaded());
}
