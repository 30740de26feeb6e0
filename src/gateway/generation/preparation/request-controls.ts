import type { Caller } from "../../../core/auth/callers.ts";
import type { RouteTarget } from "../../../core/conversation/model.ts";
import type { Context } from "../../../core/ports/context.ts";
import { FALLBACK_HEADER, RETRIES_HEADER, TIMEOUT_HEADER } from "../../../core/routing/control-headers.ts";
import type { RequestControls } from "./parse-request-controls.ts";

const NO_CONTROLS: RequestControls = { fallbackNames: [] };

/** Few requests have these headers. */
const loadParser = () => import("./parse-request-controls.ts");

/**
 * Reads the headers.
 *
 * @throws GatewayError 400 for a bad number, and for too many names
 */
export async function readRequestControls(headers: Headers): Promise<RequestControls> {
  const hasAny = [TIMEOUT_HEADER, RETRIES_HEADER, FALLBACK_HEADER].some((name) => headers.has(name));
  return hasAny ? (await loadParser()).parseRequestControls(headers) : NO_CONTROLS;
}

/**
 * Resolves the fallback models of a request.
 *
 * @throws GatewayError 400 for an unknown name, 403 for a model that the caller may not use
 */
export async function resolveFallbacks(
  context: Context,
  caller: Caller,
  { fallbackNames }: Pick<RequestControls, "fallbackNames">,
): Promise<readonly RouteTarget[]> {
  return fallbackNames.length === 0 ? [] : (await loadParser()).resolveNames(context, caller, fallbackNames);
}

/**
 * Appends fallback models to the targets of a name, without repetition. Beside targets with weights, fallback models get no
 * share of the conversations.
 */
export function appendFallbacks(
  targets: readonly RouteTarget[],
  fallbacks: readonly RouteTarget[],
): readonly RouteTarget[] {
  if (fallbacks.length === 0) return targets;
  const isWeighted = targets.some(({ weight }) => weight !== undefined);
  const known = new Set(targets.map(({ model }) => model.id));
  const added = fallbacks.filter(({ model: { id } }) => !known.has(id) && known.add(id));
  return [...targets, ...added.map(({ model }) => (isWeighted ? { model, weight: 0 } : { model }))];
}
