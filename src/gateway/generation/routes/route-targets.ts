import { assertModelAllowed, isModelAllowed } from "../../../core/auth/access-rules.ts";
import type { Caller } from "../../../core/auth/callers.ts";
import type { ResolvedModel, RouteTarget } from "../../../core/conversation/model.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { ExpectedTokens } from "../../../pool/limits/limited-use.ts";
import { appendFallbacks } from "../preparation/request-controls.ts";
import { getRouteAffinity, type StickyRoute } from "./route-affinity.ts";

/** Few routes have a strategy. */
const loadStrategies = () => import("./route-strategies.ts");

/** What affects the order of the models, in addition to the requested name. */
interface OrderOptions {
  /** The models that the request itself names as fallbacks. */
  readonly fallbacks: readonly RouteTarget[];
  /** Identifies the conversation: it stays with the model that answered it last. */
  readonly key: string;
  /** The expected tokens of the request. Called at most once, and only for a strategy that needs them. */
  estimateTokens(): ExpectedTokens;
}

/** The models that may answer a request, in the order in which they are tried. */
export interface OrderedModels {
  readonly models: readonly ResolvedModel[];
  /** Absent: there is only one model, and the name is no route. */
  readonly stickyRoute?: StickyRoute;
}

/**
 * Lists the models that may answer a request, in the order in which they are tried: the targets of the requested route, or
 * the requested model, then the fallbacks of the request.
 *
 * @throws GatewayError 403 when the caller may use none of them
 */
export async function orderModels(
  context: Context,
  caller: Caller,
  model: ResolvedModel,
  { fallbacks, key, estimateTokens }: OrderOptions,
): Promise<OrderedModels> {
  if (model.route === undefined) {
    assertModelAllowed(caller, context.requestLimits, model);
    if (fallbacks.length === 0) return { models: [model] };
  }
  const allowed =
    model.route === undefined ? [{ model }] : selectAllowedTargets(context, caller, model, model.route);
  const { targets, ...strategic } = await orderByStrategy(context, model, allowed, estimateTokens);
  const stickyRoute = { ...strategic, targets: appendFallbacks(targets, fallbacks), key };
  const ordered = getRouteAffinity(context.platform).orderModels(stickyRoute, context.platform.now());
  return { models: ordered.map((target) => ({ ...target, requested: target.id })), stickyRoute };
}

/**
 * The targets of a route that a caller may use.
 *
 * @throws GatewayError 403 when the caller may use none of them
 */
export function selectAllowedTargets(
  { requestLimits }: Pick<Context, "requestLimits">,
  caller: Caller,
  model: ResolvedModel,
  route: readonly RouteTarget[],
): readonly RouteTarget[] {
  const { requested } = model;
  const allowed = route.filter(({ model: { id } }) =>
    isModelAllowed(caller, requestLimits, { requested, id }),
  );
  // A pass-through token is only for the default provider.
  const usable = caller.mode === "own-token" ? allowed.filter((target) => !target.model.provider) : allowed;
  if (usable.length > 0) return usable;
  assertModelAllowed(caller, requestLimits, model);
  return allowed;
}

/** Orders the targets of a route by its strategy, if it has one. */
async function orderByStrategy(
  context: Context,
  { routeStrategy }: ResolvedModel,
  targets: readonly RouteTarget[],
  estimateTokens: () => ExpectedTokens,
): Promise<Omit<StickyRoute, "key">> {
  if (routeStrategy === undefined) return { targets };
  const { orderTargets } = await loadStrategies();
  return { ...(await orderTargets(context, routeStrategy, targets, estimateTokens)), isDynamic: true };
}
