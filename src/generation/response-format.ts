import type { Completion } from "./events.ts";
import type { GenerationJob } from "./generate.ts";

/** Checks a whole answer against the requested format. */
export async function repairFormat(_job: GenerationJob, completion: Completion): Promise<Completion> {
  return completion;
}
