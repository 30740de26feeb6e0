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

/** A conversation's texts are held twice: as they came, and in what is made of them for the provider. */
const COPIES = 2;

/** Where so many bytes are held or fewer, none is given back before the end: to reckon which could be costs more than they are worth. */
const LITTLE_BYTES = 16 * 1024;

/**
 * Begins a generation: notes it in the log, watches for the client's going away, binds the caller to the account that
 * has the files it refers to, and suits the conversation to the provider. Where more than 16 KiB of the memory for bodies are held, only what the
 * conversation needs stays held from here on.
 *
 * @throws GatewayError 403 for what the caller's key may not be used for, 400 for what the provider cannot meet, 400 or 404 for file references that cannot be followed.
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
  // Of several models each is checked and suited when its turn comes: what one cannot take another may.
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

/** What the provider of a model can be asked for; null where none is configured. */
async function abilitiesOf(
  { platform, config }: Context,
  { provider }: ResolvedModel,
): Promise<Abilities | null> {
  if (provider === undefined) return configuredProvider(platform)?.abilities ?? null;
  return providerNamed(platform, (await config()).config, provider).api.abilities;
}

/**
 * The models that a conversation may be answered by, in the order in which they are asked.
 *
 * @throws GatewayError 403 when the caller's key may use none of them.
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
  // A stranger's token is for the default provider.
  const own = caller.mode === "pass-through" ? allowed.filter((target) => !target.model.provider) : allowed;
  if (own.length === 0) checkModel(scope, model);
  const stay = {
    targets: own.length === 0 ? allowed : own,
    key: await conversationKey(caller.owner, conversation),
  };
  const ordered = routesOf(context.platform).order(stay, context.platform.now());
  return { models: ordered.map((target) => ({ ...target, requested: target.id })), stay };
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
