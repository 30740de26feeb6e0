import {
  assertModelAllowed,
  assertNoModelList,
  hasModelList,
  isModelAllowed,
} from "../../core/auth/access-rules.ts";
import type { Caller } from "../../core/auth/callers.ts";
import { toProviderId } from "../../core/config/provider-id.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import { estimateTokens } from "../../core/conversation/tokens.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { FALLBACK_HEADER } from "../../core/routing/control-headers.ts";
import type { IsModelAllowed } from "../generation/native/named-models.ts";
import type { RequestControls } from "../generation/preparation/parse-request-controls.ts";
import { resolveFallbacks } from "../generation/preparation/request-controls.ts";
import { orderModels } from "../generation/routes/route-targets.ts";
import { assertNoGuardrails } from "../guardrails/unchecked-endpoints.ts";
import { readWithModelNames } from "../models/read-with-model-names.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { findDefaultProviderApi } from "../providers/provider-registry.ts";
import type { PassthroughEndpoint } from "./endpoint-table.ts";

/** Longest name that goes to the default provider as it is, in characters: logs and records store it. */
const MAX_NAME_LENGTH = 200;

/** The style whose scope and protocol these endpoints share. */
export const PASSTHROUGH_STYLE = "chat-completions";

/** The part of a call that decides which models may answer. */
interface NamedModel {
  /** As the caller wrote it; empty: none. */
  readonly model: string;
  /** See `PassthroughCall`. */
  namesOtherModels?(isAllowed: IsModelAllowed): boolean;
  /** The texts that the model reads. */
  readonly promptText?: string;
  readonly endpoint: Pick<PassthroughEndpoint, "operation">;
}

/** What answers a request: the model, or null for the default model of the default provider. */
export type Target = ResolvedModel | null;

/**
 * Returns the models that may answer, in the order in which they are tried.
 *
 * @throws GatewayError 400 for an unknown model, 403 if the caller's key may use none of the models
 */
export async function resolveTargets(
  context: Context,
  caller: Caller,
  call: NamedModel,
  controls: Pick<RequestControls, "fallbackNames">,
): Promise<readonly Target[]> {
  await assertNoGuardrails(context, caller);
  const fallbacks = await resolveFallbacks(context, caller, controls);
  const { requestLimits } = context;
  if (hasModelList(caller, requestLimits)) {
    const isAllowed = (name: unknown) =>
      typeof name === "string" && isModelAllowed(caller, requestLimits, { requested: name, id: name });
    if (call.namesOtherModels?.(isAllowed) === true) assertNoModelList(caller, requestLimits);
  }
  if (call.model === "") {
    assertModelAllowed(caller, requestLimits, { requested: "", id: "" });
    if (fallbacks.length === 0) return [null];
    throw invalidRequest(`${FALLBACK_HEADER} needs a request with a model`, FALLBACK_HEADER);
  }
  const model = await resolveOrKeepName(context, call);
  const { models } = await orderModels(context, caller, model, {
    fallbacks,
    key: context.uniqueRequestId,
    estimateTokens: () => ({ prompt: estimateTokens(call.promptText ?? ""), answer: 0 }),
  });
  return models;
}

/**
 * Resolves a name as in chats. The catalogue has only models that chat: other names go to the default provider as they are,
 * if it has such endpoints.
 */
async function resolveOrKeepName(
  context: Context,
  { model: name, endpoint }: NamedModel,
): Promise<ResolvedModel> {
  const labels = { dialect: PASSTHROUGH_STYLE, operation: endpoint.operation };
  try {
    const model = await readWithModelNames(context, name, resolveModel, labels);
    Object.assign(context.facts, { model: model.id, requestedModel: model.requested });
    return model;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "model_not_found") throw error;
    const { config } = await context.config();
    const [first = ""] = name.split("/");
    const isConfigured = first !== name && config.providers.some(({ id }) => id === first);
    const provider = findDefaultProviderApi(context.platform);
    if (provider?.passthrough === undefined || isConfigured || name.length > MAX_NAME_LENGTH) throw error;
    const kept = name.trim();
    return { id: kept, upstream: kept, requested: kept, thinking: false, search: false, vision: false };
  }
}

/** Notes the current target in the facts of the request. The provider is named where there are several. */
export function recordTarget({ facts }: Context, target: Target, isOnlyTarget: boolean): void {
  if (target === null) return;
  facts.model = target.id;
  if (!isOnlyTarget || target.provider !== undefined) facts.provider = toProviderId(target.provider);
}
