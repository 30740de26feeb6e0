import { abortWith } from "../accounts/with-account.ts";
import type { Completion, Usage } from "../conversation/events.ts";
import type { GenerationOutcome } from "../conversation/outcome.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import { Recording } from "../history/recording.ts";
import { costOfValue } from "../http/value-cost.ts";
import { checkDialect, checkModel } from "../limits/allowed.ts";
import { configuredProvider, providerNamed } from "../provider/of-platform.ts";
import { boundToFiles } from "./file-references.ts";
import type { Generation } from "./generation.ts";
import { HOOKS } from "./hooks.ts";
import type { AnswerInfo, GenerationJob, GenerationRequest } from "./job.ts";
import { refuseUnmet, suited } from "./suit.ts";

/** A conversation's texts are held twice: as they came, and in what is made of them for the provider. */
const COPIES = 2;

/**
 * Begins a generation: notes it in the log, watches for the client's going away, binds the caller to the account that
 * has the files it refers to, and suits the conversation to the provider. Of the memory for bodies only what the conversation needs stays held from here on.
 *
 * @throws GatewayError 403 for what the caller's key may not be used for, 400 for what the provider cannot meet, 400 or 404 for file references that cannot be followed.
 */
export async function begin(request: GenerationRequest): Promise<GenerationJob> {
  const { context, conversation: asked, hooks = HOOKS, alsoHeld } = request;
  context.hold.keep(costOfValue(asked, COPIES) + costOfValue(alsoHeld));
  context.log.dialect = asked.dialect;
  context.log.operation = "chat";
  context.log.model = asked.model.id;
  context.log.requestedModel = asked.model.requested;
  context.log.stream = asked.stream;
  if (asked.model.provider) context.log.provider = asked.model.provider;
  const scope = request.caller.key?.entry;
  checkDialect(scope, asked.dialect);
  checkModel(scope, asked.model);
  const { provider: id } = asked.model;
  const provider =
    id === undefined
      ? configuredProvider(context.platform)
      : providerNamed(context.platform, (await context.config()).config, id).api;
  if (provider !== null) refuseUnmet(asked, provider.abilities);
  const { abort } = abortWith(context.request);
  const { caller, images } = await boundToFiles(context, request.caller, asked);
  const conversation = provider === null ? asked : suited(asked, provider.abilities, images);
  context.log.model = conversation.model.id;
  const recording = new Recording(context, conversation);
  return { context, caller, conversation, hooks, recording, abort };
}

/** What renderers are told of a generation's answer. */
export function infoOf({ context, conversation }: GenerationJob, generation: () => Generation): AnswerInfo {
  return {
    conversation,
    requestId: context.requestId,
    created: Math.floor(context.startedAt / 1000),
    promptTokens: () => generation().estimatedPromptTokens(),
  };
}

/** Tells history and hooks that a generation has succeeded. */
export function succeed(job: GenerationJob, { finishReason, usage }: Completion): void {
  end(job, { status: "success", statusCode: 200, error: "", code: "", finishReason, usage });
}

/** The same of one that failed or was cancelled; `usage` is what it had used by then. */
export function fail(job: GenerationJob, error: GatewayError, usage: Usage | null): void {
  const { status: statusCode, message, code } = error;
  const status = statusCode === 499 ? "cancelled" : "error";
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) job.context.log.retryAfterSeconds = retryAfterSeconds;
  end(job, { status, statusCode, error: message, code, finishReason: "", usage });
}

function end(job: GenerationJob, outcome: GenerationOutcome): void {
  job.recording?.end(outcome);
  const { context, caller, conversation } = job;
  for (const hook of job.hooks.onOutcome) hook({ context, caller, conversation, outcome });
}
