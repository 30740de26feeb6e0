import { assertModelAllowed } from "../../../core/auth/access-rules.ts";
import type { Caller } from "../../../core/auth/callers.ts";
import type { RouteTarget } from "../../../core/conversation/model.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { FALLBACK_HEADER, RETRIES_HEADER, TIMEOUT_HEADER } from "../../../core/routing/control-headers.ts";
import { HOUR_MS } from "../../../core/units.ts";
import { hideUnknownProvider, readWithModelNames } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { RequestDeadline } from "../request-deadline.ts";

const MAX_TIMEOUT_MS = HOUR_MS;
const MAX_RETRIES = 100;
const MAX_FALLBACKS = 10;

/** What a caller sets for one request with headers. */
export interface RequestControls {
  /** Absent: only the settings of the deployment bound the retries. */
  readonly maxRetries?: number;
  readonly fallbackNames: readonly string[];
  /** Starts the clock of the caller's time. Absent: only the settings of the deployment bound the wait. */
  startDeadline?(abort: AbortController): RequestDeadline;
}

function readInteger(headers: Headers, name: string, min: number, max: number): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const shown = JSON.stringify(text.slice(0, 40));
  throw invalidRequest(`${name} is an integer from ${min} to ${max}, not ${shown}`, name);
}

/**
 * Reads the headers.
 *
 * @throws GatewayError 400 for a bad number, and for too many names
 */
export function parseRequestControls(headers: Headers): RequestControls {
  const timeoutMs = readInteger(headers, TIMEOUT_HEADER, 1, MAX_TIMEOUT_MS);
  const maxRetries = readInteger(headers, RETRIES_HEADER, 0, MAX_RETRIES);
  const names = (headers.get(FALLBACK_HEADER) ?? "").split(",").map((name) => name.trim());
  const fallbackNames = [...new Set(names)].filter((name) => name !== "");
  if (fallbackNames.length > MAX_FALLBACKS) {
    throw invalidRequest(`${FALLBACK_HEADER}: at most ${MAX_FALLBACKS} models are allowed`, FALLBACK_HEADER);
  }
  return {
    ...(timeoutMs === undefined ? {} : { startDeadline: (abort) => new RequestDeadline(abort, timeoutMs) }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
    fallbackNames,
  };
}

/**
 * Resolves the names of fallback models. A name may be anything that `model` may be; a route adds all its models.
 *
 * @throws GatewayError 400 for an unknown name, 403 for a model that the caller may not use
 */
export async function resolveNames(
  context: Context,
  caller: Caller,
  names: readonly string[],
): Promise<RouteTarget[]> {
  const targets: RouteTarget[] = [];
  for (const name of names) {
    const model = await readWithModelNames(context, name, resolveModel).catch((error) => {
      hideUnknownProvider(context, error);
      return renameField(error);
    });
    for (const { model: target } of model.route ?? [{ model }]) {
      assertModelAllowed(caller, context.requestLimits, { requested: name, id: target.id });
      if (caller.mode === "own-token" && target.provider !== undefined) throw needsKeyError(name);
      targets.push({ model: target });
    }
  }
  return targets;
}

/** Names the header in the error of an unknown model. */
function renameField(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  const { status, code, message } = error;
  throw new GatewayError(status, `${FALLBACK_HEADER}: ${message}`, { code, param: FALLBACK_HEADER });
}

function needsKeyError(name: string): GatewayError {
  const message = `${FALLBACK_HEADER}: the model ${JSON.stringify(name)} needs an API key of the gateway`;
  return new GatewayError(403, message, { code: "permission_denied", param: FALLBACK_HEADER });
}
