import { assertDialectAllowed } from "../../core/auth/access-rules.ts";
import { toProviderId } from "../../core/config/provider-id.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import { toPlainText } from "../../core/conversation/plain-text.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import { costOfValue } from "../../core/http/value-cost.ts";
import type { Context } from "../../core/ports/context.ts";
import { RetryBudget } from "../../core/retries/retry-budget.ts";
import { Recording } from "../history/recording.ts";
import type { Provider } from "../providers/provider.ts";
import { findDefaultProviderApi, getProvider } from "../providers/provider-registry.ts";
import type { Generation } from "./generation.ts";
import type { AnswerInfo, GenerationJob, GenerationRequest } from "./generation-job.ts";
import { identifyTurn } from "./preparation/conversation-key.ts";
import { estimateUsage } from "./preparation/expected-usage.ts";
import { type PinnedCaller, pinToFileAccount } from "./preparation/file-references.ts";
import { readRequestControls, resolveFallbacks } from "./preparation/request-controls.ts";
import { rejectUnsupportedOptions, selectCapableModel } from "./routes/model-selection.ts";
import { orderModels } from "./routes/route-targets.ts";

/** A conversation's texts are in memory twice: in the original form, and in the form for the provider. */
const TEXT_COPIES = 2;

/**
 * Up to this many held bytes, none is released before the end: computing which are no longer needed costs more than they
 * are worth.
 */
const MIN_RELEASE_BYTES = 16 * 1024;

/**
 * Begins a generation: notes its facts, watches for the client's departure, pins the caller to the account that holds
 * the files it refers to, and selects a model that can answer the conversation. If the request holds more than 16 KiB
 * of the memory budget for bodies, it releases all but what the conversation needs.
 *
 * @throws GatewayError 403 for what the caller's key must not use; 400 for options that the provider does not support; 400
 *   or 404 for invalid file references
 */
export async function beginGeneration(request: GenerationRequest): Promise<GenerationJob> {
  const { context, conversation: originalConversation, onOutcome, retainedData } = request;
  if (context.memory.bytes > MIN_RELEASE_BYTES) {
    context.memory.shrinkTo(costOfValue(originalConversation, TEXT_COPIES) + costOfValue(retainedData));
  }
  context.facts.dialect = originalConversation.dialect;
  context.facts.operation = "chat";
  context.facts.model = originalConversation.model.id;
  context.facts.requestedModel = originalConversation.model.requested;
  context.facts.stream = originalConversation.stream;
  assertDialectAllowed(request.caller.key?.entry, originalConversation.dialect);
  const controls = await readRequestControls(context.request.headers);
  const fallbacks = await resolveFallbacks(context, request.caller, controls);
  const turn = identifyTurn(request.caller.owner, context.request.headers, originalConversation);
  const ordered = await orderModels(context, request.caller, originalConversation.model, {
    fallbacks,
    key: turn.key,
    estimateTokens: () => estimateUsage(originalConversation, toPlainText(originalConversation)),
  });
  const filePinned = await pinToFileAccount(context, request.caller, originalConversation, ordered.models);
  const { conversation: resolvedConversation, hasImages } = filePinned;
  const { caller, models } = await pinToAccountState(request, filePinned);
  const [first, ...alternatives] = models;
  const isRouted = ordered.stickyRoute !== undefined;
  const routedConversation =
    first === undefined ? resolvedConversation : { ...resolvedConversation, model: first };
  if (isRouted || first?.provider !== undefined) context.facts.provider = toProviderId(first?.provider);
  const provider = await findProviderApi(context, routedConversation.model);
  // With several models, each is checked when its turn comes: another model may accept what one rejects.
  const isOnlyTarget = provider !== null && alternatives.length === 0;
  const isNative =
    request.native !== undefined && provider?.native?.speaks(request.native.request.dialect) === true;
  if (isOnlyTarget && !isNative) rejectUnsupportedOptions(originalConversation, provider.capabilities);
  const { abort } = abortOnDisconnect(context);
  const conversation = isOnlyTarget
    ? selectCapableModel(routedConversation, provider.capabilities, hasImages)
    : routedConversation;
  context.facts.model = conversation.model.id;
  const retries = new RetryBudget(() => context.platform.now(), controls.maxRetries);
  const recording = new Recording(context, conversation, retries);
  const deadline = controls.startDeadline?.(abort);
  const routeFields = {
    fallbackModels: alternatives,
    ...(ordered.stickyRoute === undefined ? {} : { stickyRoute: ordered.stickyRoute }),
  };
  return {
    context,
    caller,
    conversation,
    recording,
    ...(onOutcome === undefined ? {} : { onOutcome }),
    retries,
    abort,
    ...(deadline === undefined ? {} : { deadline }),
    hasImageFiles: hasImages,
    ...(request.native === undefined ? {} : { native: request.native }),
    turn,
    ...routeFields,
  };
}

/** Pins the caller to the account that has an object of the request, for example a container. Most requests name none. */
async function pinToAccountState(
  { context, native }: GenerationRequest,
  pinned: PinnedCaller,
): Promise<Pick<PinnedCaller, "caller" | "models">> {
  const ids = native?.accountStateIds ?? [];
  if (ids.length === 0) return pinned;
  return (await import("./account-states.ts")).pinToAccount(context, pinned, ids);
}

/** The provider of a model; null if no provider is configured. */
async function findProviderApi(
  { platform, config }: Context,
  { provider }: ResolvedModel,
): Promise<Provider | null> {
  if (provider === undefined) return findDefaultProviderApi(platform);
  return getProvider(platform, (await config()).config, provider).api;
}

/** The facts about a generation's answer that renderers need. */
export function createAnswerInfo(
  { context, conversation }: GenerationJob,
  generation: () => Generation,
): AnswerInfo {
  return {
    conversation,
    requestId: context.requestId,
    created: Math.floor(context.startedAt / 1000),
    promptTokens: () => generation().estimatedPromptTokens(),
  };
}
