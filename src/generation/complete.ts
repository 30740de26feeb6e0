import type { Completion } from "../conversation/events.ts";
import { toGatewayError } from "../errors/gateway-error.ts";
import { begin, fail, infoOf, succeed } from "./begin.ts";
import { Generation } from "./generation.ts";
import type { AnswerInfo, GenerationRequest } from "./job.ts";
import { repairFormat } from "./response-format.ts";
import { type CompletionStage, linkSources, runWhole } from "./whole.ts";

/** What happens to an answer once it is whole, in order. */
const STAGES: readonly CompletionStage[] = [linkSources, repairFormat];

/** A whole answer, and what its dialect may need to know besides. */
export interface Completed {
  readonly completion: Completion;
  readonly info: AnswerInfo;
}

/**
 * Answers a conversation whole: one half of the pipeline behind every generation route; `stream.ts` is the other.
 *
 * @throws GatewayError what the caller must be told.
 */
export async function complete(request: GenerationRequest): Promise<Completed> {
  const job = await begin(request);
  let generation: Generation | undefined;
  try {
    generation = await Generation.prepare(job);
    const prepared = generation;
    let completion = await runWhole(generation);
    for (const stage of STAGES) completion = await stage(completion, job, generation);
    succeed(job, completion);
    return { completion, info: infoOf(prepared.job, () => prepared) };
  } catch (thrown) {
    const error = toGatewayError(thrown, job.context.requestId);
    fail(job, error, generation?.usageSoFar() ?? null);
    throw error;
  }
}
