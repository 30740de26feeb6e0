import { DEFAULT_PROVIDER } from "../config/schema.ts";
import type { Completion, Usage } from "../conversation/events.ts";
import type { ResolvedModel } from "../conversation/model.ts";
import type { GenerationOutcome } from "../conversation/outcome.ts";
import type { GatewayError } from "../errors/gateway-error.ts";
import { Recording } from "../history/recording.ts";
import { abortWith } from "../http/departure.ts";
import { costOfValue } from "../http/value-cost.ts";
import { checkDialect, checkModel, mayUse } from "../limits/allowed.ts";
import type { Context } from "../platform/context.ts";
import { configuredProvider, providerNamed } from "../provider/of-platform.ts";
import type { Abilities } from "../provider/provider.ts";
import { boundToFiles } from "./file-references.ts";
import type { Generation } from "./generation.ts";
import { HOOKS } from "./hooks.ts";
import type { AnswerInfo, GenerationJob, GenerationRequest } from "./job.ts";
import { conversationKey, routesOf, type Stay } from "./route-memory.ts";
import { refuseUnmet, suited } from "./suit.ts";

/** A conversation's texts are in memory twice: in the original form, and in the form for the provider. */
const COPIES = 2;

/**
 * Up to this many held bytes, none is released before the end: computing which are no longer needed costs more than they
 * are worth.
 */
const LITTLE_BYTES = 16 * 1024;

/**
 * Begins a generation: logs it, watches for the client's departure, pins the caller to the account that holds the files it
 * refers to, and selects a model that can answer the conversation. If the request holds more than 16 KiB of the memory
 * budget for bodies, it releases all but what the conversation needs.
 *
 * @throws GatewayError 403 for what the caller's key must not use; 400 for options that the provider does not support; 400
 *   or 404 for invalid file references
 */
export async function begin(request: GenerationRequest): Promise<GenerationJob> {
  const { context, conversation: asked, hooks = HOOKS, alsoHeld } = request;
  if (context.hold.bytes > LITTLE_BYTES) {
    context.hold.keep(costOfValue(asked, COPIES) + costOfValue(alsoHeld));
  }
  context.log.dialect = asked.dialect;
  context.log.operation = "chat";
  context.log.model = asked.model.id;
  context.log.requestedModel = asked.model.requested;
  context.log.stream = asked.stream;
  checkDialect(request.caller.key?.entry, asked.dialect);
  const { models, stay } = await modelsFor(request);
  const [first, ...alternatives] = models;
  const routed = asked.model.route !== undefined;
  const wanted = first === undefined ? asked : { ...asked, model: first };
  if (routed || first?.provider !== undefined) context.log.provider = first?.provider ?? DEFAULT_PROVIDER;
  const provider = await abilitiesOf(context, wanted.model);
  // With several models, each is checked when its turn comes: another model may accept what one rejects.
  const alone = provider !== null && alternatives.length === 0;
  if (alone) refuseUnmet(asked, provider);
  const { abort } = abortWith(context.request);
  const { caller, images } = await boundToFiles(context, request.caller, asked);
  const conversation = alone ? suited(wanted, provider, images) : wanted;
  context.log.model = conversation.model.id;
  const recording = new Recording(context, conversation);
  const way = { alternatives, ...(stay === undefined ? {} : { stay }) };
  const { requested } = asked.model;
  return {
    context,
    caller,
    conversation,
    hooks,
    recording,
    abort,
    imageFiles: images,
    asked: requested,
    ...way,
  };
}

/** The abilities of a model's provider; null if no provider is configured. */
async function abilitiesOf(
  { platform, config }: Context,
  { provider }: ResolvedModel,
): Promise<Abilities | null> {
  if (provider === undefined) return configuredProvider(platform)?.abilities ?? null;
  return providerNamed(platform, (await config()).config, provider).api.abilities;
}

/**
 * The models that may answer a conversation, in the order in which they are tried.
 *
 * @throws GatewayError 403 when the caller's key may use none of them
 */
async function modelsFor({
  context,
  caller,
  conversation,
}: GenerationRequest): Promise<{ models: readonly ResolvedModel[]; stay?: Stay }> {
  const { model } = conversation;
  const scope = caller.key?.entry;
  if (model.route === undefined) {
    checkModel(scope, model);
    return { models: [model] };
  }
  const { requested } = model;
  const allowed = model.route.filter(({ model: { id } }) => mayUse(scope, { requested, id }));
  // A pass-through token is only for the default provider.
  const own = caller.mode === "pass-through" ? allowed.filter((target) => !target.model.provider) : allowed;
  if (own.length === 0) checkModel(scope, model);
  const stay = {
    targets: own.length === 0 ? allowed : own,
    key: await conversationKey(caller.owner, conversation),
  };
  const ordered = routesOf(context.platform).order(stay, context.platform.now());
  return { models: ordered.map((target) => ({ ...target, requested: target.id })), stay };
}

/** The facts about a generation's answer that renderers need. */
export function infoOf({ context, conversation }: GenerationJob, generation: () => Generation): AnswerInfo {
  return {
    conversation,
    requestId: context.requestId,
    created: Math.floor(context.startedAt / 1000),
    promptTokens: () => generation().estimatedPromptTokens(),
  };
}

/** Reports a successful generation to the history and the hooks. */
export function succeed(job: GenerationJob, { finishReason, usage }: Completion): void {
  end(job, { status: "success", statusCode: 200, error: "", code: "", finishReason, usage });
}

/** Reports a failed or cancelled generation. `usage` is its usage so far. */
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
