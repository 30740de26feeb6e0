import type { Completion } from "../../core/conversation/events.ts";
import { replaceMember } from "../../core/encoding/json-splice.ts";
import { beginGeneration, createAnswerInfo } from "./begin-generation.ts";
import { type CompletionStage, linkSources, runToCompletion } from "./completion-stages.ts";
import { finishWithError, finishWithSuccess } from "./end-generation.ts";
import { repairFormat } from "./format/response-format.ts";
import {
  type AnswerInfo,
  explainFailure,
  type GenerationJob,
  type GenerationRequest,
} from "./generation-job.ts";
import { RouteRunner } from "./routes/route-runner.ts";

/** Applies the guardrails. */
const checkAnswer: CompletionStage = (completion, { guard }) =>
  guard === undefined ? completion : guard.checkCompletion(completion);

/** The steps that process a complete answer, in order. */
const COMPLETION_STAGES: readonly CompletionStage[] = [linkSources, repairFormat, checkAnswer];

/** A complete answer, and the facts about it that its dialect needs. */
interface GeneratedCompletion {
  readonly completion: Completion;
  readonly info: AnswerInfo;
  /** The provider's own answer to a native request, with the headers for the caller. */
  readonly native?: { readonly text: string; readonly headers: Readonly<Record<string, string>> };
}

/** The provider's answer with the name of the model that the style echoes. */
function withEchoedModel({ native, conversation: { model } }: GenerationJob, text: string): string {
  if (native === undefined) return text;
  const name = JSON.stringify(native.style.echoedModel(model));
  return native.style.modelPaths.reduce((edited, path) => replaceMember(edited, path, name), text);
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
    const nativeAnswer = generation.nativeAnswer?.text ? generation.nativeAnswer : null;
    if (nativeAnswer === null) {
      for (const stage of COMPLETION_STAGES) completion = await stage(completion, job, generation);
    }
    finishWithSuccess(job, completion);
    const info = createAnswerInfo(job, () => generation);
    if (nativeAnswer === null) return { completion, info };
    const { headers, text } = nativeAnswer;
    return { completion, info, native: { headers, text: withEchoedModel(job, text) } };
  } catch (thrown) {
    const error = explainFailure(job, thrown);
    finishWithError(route?.generation.job ?? job, error, route?.generation.usageSoFar() ?? null);
    throw error;
  } finally {
    job.deadline?.end();
  }
}
