import type { Completion } from "../conversation/events.ts";
import { toGatewayError } from "../errors/gateway-error.ts";
import { begin, fail, infoOf, succeed } from "./begin.ts";
import type { AnswerInfo, GenerationRequest } from "./job.ts";
import { repairFormat } from "./response-format.ts";
import { Route } from "./route.ts";
import { type CompletionStage, linkSources, runWhole } from "./whole.ts";

/** The steps that process a complete answer, in order. */
const STAGES: readonly CompletionStage[] = [linkSources, repairFormat];

/** A complete answer, and the facts about it that its dialect needs. */
export interface Completed {
  readonly completion: Completion;
  readonly info: AnswerInfo;
}

/**
 * Answers a conversation with one complete answer. All generation routes use this function or `streamGeneration`.
 *
 * @throws GatewayError the caller's error
 */
export async function complete(request: GenerationRequest): Promise<Completed> {
  let job = await begin(request);
  let route: Route | undefined;
  try {
    route = await Route.prepare(job);
    let completion = await route.run(runWhole);
    const { generation } = route;
    job = generation.job;
    for (const stage of STAGES) completion = await stage(completion, job, generation);
    succeed(job, completion);
    return { completion, info: infoOf(job, () => generation) };
  } catch (thrown) {
    const error = toGatewayError(thrown, job.context.requestId);
    fail(route?.generation.job ?? job, error, route?.generation.usageSoFar() ?? null);
    throw error;
  }
}
