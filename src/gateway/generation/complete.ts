import type { Completion } from "../../core/conversation/events.ts";
import { toGatewayError } from "../../core/errors/gateway-error.ts";
import { beginGeneration, createAnswerInfo } from "./begin-generation.ts";
import { type CompletionStage, linkSources, runToCompletion } from "./completion-stages.ts";
import { finishWithError, finishWithSuccess } from "./end-generation.ts";
import type { AnswerInfo, GenerationRequest } from "./generation-job.ts";
import { repairFormat } from "./response-format.ts";
import { RouteRunner } from "./route-runner.ts";

/** The steps that process a complete answer, in order. */
const COMPLETION_STAGES: readonly CompletionStage[] = [linkSources, repairFormat];

/** A complete answer, and the facts about it that its dialect needs. */
export interface GeneratedCompletion {
  readonly completion: Completion;
  readonly info: AnswerInfo;
}

/**
 * Answers a conversation with one complete answer. All generation routes use this function or `streamGeneration`.
 *
 * @throws GatewayError the caller's error
 */
export async function generateCompletion(request: GenerationRequest): Promise<GeneratedCompletion> {
  let job = await beginGeneration(request);
  let route: RouteRunner | undefined;
  try {
    route = await RouteRunner.prepare(job);
    let completion = await route.run(runToCompletion);
    const { generation } = route;
    job = generation.job;
    for (const stage of COMPLETION_STAGES) completion = await stage(completion, job, generation);
    finishWithSuccess(job, completion);
    return { completion, info: createAnswerInfo(job, () => generation) };
  } catch (thrown) {
    const error = toGatewayError(thrown, job.context.requestId);
    finishWithError(route?.generation.job ?? job, error, route?.generation.usageSoFar() ?? null);
    throw error;
  }
}
