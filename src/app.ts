import { authorizeAndServe } from "./access.ts";
import { completeResponse } from "./complete-response.ts";
import { rejectForeignPage } from "./core/auth/development-keys.ts";
import { RequestConfig } from "./core/config/request-config.ts";
import type { ConfigSnapshot } from "./core/config/snapshot.ts";
import { oncePer } from "./core/encoding/once.ts";
import { describeForLog } from "./core/errors/failure-message.ts";
import { type GatewayError, invalidRequest, toGatewayError } from "./core/errors/gateway-error.ts";
import { onAbort } from "./core/http/abort-signals.ts";
import { MemoryBudget } from "./core/http/memory-budget.ts";
import type { Context, RequestRuntime } from "./core/ports/context.ts";
import type { Platform } from "./core/ports/platform.ts";
import type { RequestFacts, RequestOutcome } from "./core/ports/request-outcome.ts";
import { errorResponse, STANDARD_FAMILY } from "./core/routing/error-formats.ts";
import {
  createRequestIds,
  hasValidHost,
  parseRequestUrl,
  type RequestHead,
} from "./core/routing/request-head.ts";
import { routeNotFound } from "./core/routing/router.ts";
import { recordIfRefused } from "./gateway/history/record-if-refused.ts";
import { ModelNotFoundError } from "./gateway/models/model-not-found.ts";
import { redirectToConsolePage, serveConsoleFile } from "./operator/console-files.ts";
import { settleUse } from "./pool/limits/limited-use.ts";
import { logRequest } from "./records/telemetry/log.ts";
import { recordRequest } from "./records/telemetry/record-request.ts";
import { CORS, PATH_FAMILIES, ROUTE_TABLE } from "./routes.ts";

/** The value of `log.sample` with which every request is logged. */
const FULL_SAMPLE = 1;

/** The memory budget of this isolate or process. */
const getMemoryBudget = oncePer(({ variables }: Platform) => new MemoryBudget(variables.bodyBudgetBytes));

async function dispatch(context: Context, { method, path, headers }: RequestHead): Promise<Response> {
  const { request, url, facts, platform, refusedRequest } = context;
  let family = PATH_FAMILIES.familyOf(path);
  try {
    if (platform.variables.development && CORS.isForOwnPages(path)) {
      await rejectForeignPage(context, CORS.isFromOtherPage(request, url));
    }
    const consolePage = redirectToConsolePage(method, path, headers);
    if (consolePage !== null) return consolePage;
    const match = await ROUTE_TABLE.match(method, url, headers, path);
    if (match === null) {
      const page = await serveConsoleFile(request, url, (file) => platform.fetchAsset(file));
      if (page !== null) return page;
      throw routeNotFound(method, path);
    }
    const { route, params } = match;
    family = route.family;
    facts.route = route.path;
    const { model } = params;
    if (route.style !== undefined) refusedRequest.style = route.style;
    if (model !== undefined) refusedRequest.model = model;
    return await authorizeAndServe(route, context, params);
  } catch (thrown) {
    const error = await explainError(context, toGatewayError(thrown, context.requestId));
    // No route has this method, but the 405 of a known path names those that it has.
    if (method === "OPTIONS" && error.code === "method_not_allowed") {
      return new Response(null, { status: 204, headers: error.headers });
    }
    recordError(facts, error);
    if (facts.key !== undefined) refusedRequest.message = error.message;
    return errorResponse(family, error, context.requestId);
  }
}

/** Notes the name of an unknown model, and adds near names to the error. Other errors stay as they are. */
async function explainError(
  { config, facts, platform, refusedRequest }: Context,
  error: GatewayError,
): Promise<GatewayError> {
  if (!(error instanceof ModelNotFoundError)) return error;
  refusedRequest.model = error.requested;
  const { explainUnknownModel } = await import("./gateway/models/explain-unknown-model.ts");
  // Names are compared only for callers with a key and for administrators: it costs time.
  const { allowsModel = facts.administrator === undefined ? null : () => true } = refusedRequest;
  return explainUnknownModel(error, (await config()).config, platform.variables, allowsModel);
}

function recordError(facts: RequestFacts, error: GatewayError): void {
  facts.error = error.code;
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) facts.retryAfterSeconds = retryAfterSeconds;
  if (error.status >= 500 && error.cause instanceof Error) facts.cause = describeForLog(error.cause);
}

/**
 * Ends a request: metrics, usage, history, limits, the trace and the log line take what they need from its outcome.
 *
 * @param snapshot the configuration that the request read; null: none, and then no limits were counted
 * @returns what is still being sent
 */
function endRequest(
  context: Context,
  outcome: RequestOutcome,
  snapshot: ConfigSnapshot | null,
): readonly (Promise<void> | null)[] {
  const { platform, requestLimits, trace, facts } = context;
  const { sending, failure } = recordRequest(platform, outcome, snapshot);
  if (failure !== null) facts.cause = `the outcome was not stored yet: ${failure.message}`;
  const settling = snapshot === null ? null : settleUse(platform, requestLimits, outcome, snapshot.config);
  logRequest(outcome, snapshot?.config.log.sample ?? FULL_SAMPLE);
  const refusing = recordIfRefused(context, outcome, snapshot);
  return [sending, settling, refusing, trace?.end({ ...outcome, facts: { ...facts } }) ?? null];
}

/**
 * Handles a request: the program's only entry point, on every runtime. Never throws; errors are formatted for the route's
 * family.
 */
export async function handleRequest(request: Request, runtime: RequestRuntime): Promise<Response> {
  const { platform } = runtime;
  const startedAt = platform.now();
  const { method, headers } = request;
  const { requestId, uniqueRequestId } = createRequestIds(headers);
  const facts: RequestFacts = {};
  const describeEnd = (path: string, status: number): RequestOutcome => {
    const durationMs = platform.now() - startedAt;
    return { method, path, status, requestId, uniqueRequestId, startedAt, durationMs, facts };
  };
  if (!hasValidHost(headers)) {
    const error = invalidRequest(
      "the header Host is not valid: it must be a host name or address, with a port if needed",
    );
    recordError(facts, error);
    logRequest(describeEnd("", error.status), FULL_SAMPLE);
    return errorResponse(STANDARD_FAMILY, error, requestId);
  }
  const { url, path, requestedPath, pathModel } = parseRequestUrl(request.url);
  const head: RequestHead = { method, path, headers };
  if (method === "OPTIONS" && CORS.appliesTo(path)) return CORS.preflight(request);
  const reservation = getMemoryBudget(platform).createReservation();
  const { telemetry } = platform.variables;
  const trace =
    telemetry === null
      ? null
      : (await import("./records/opentelemetry/index.ts")).startTrace(platform, telemetry, headers);
  const config = new RequestConfig(platform.configuration, (refresh) => runtime.waitUntil(refresh));
  let recorded = false;
  const record = (status: number) => {
    if (recorded) return;
    recorded = true;
    const works = endRequest(context, describeEnd(requestedPath, status), config.latest);
    for (const work of works) if (work !== null) runtime.waitUntil(work);
  };
  let sending: Promise<void> | null = null;
  // TypeScript would take the variable for null: it does not see that `keepUntil` sets it.
  const getSending = () => sending;
  const context: Context = {
    platform,
    clientAddress: runtime.clientAddress,
    waitUntil: (promise) => runtime.waitUntil(promise),
    request,
    url,
    ...(pathModel === undefined ? {} : { pathModel }),
    requestId,
    uniqueRequestId,
    startedAt,
    facts,
    requestLimits: {},
    refusedRequest: {},
    ...(trace === null ? {} : { trace }),
    ...(runtime.connection === undefined ? {} : { connection: runtime.connection }),
    ...(runtime.beforeEnd === undefined ? {} : { beforeEnd: runtime.beforeEnd }),
    recordOutcome: record,
    keepUntil: (sent) => {
      sending = sent;
    },
    serveRequest: (inner, connection) =>
      handleRequest(inner, connection === undefined ? runtime : { ...runtime, connection }),
    memory: reservation,
    config: () => config.read(),
    lookUpConfig: (name) => config.lookUp(name),
    ensureConfigVersion: (version) => config.ensureVersion(version),
  };
  const responding = dispatch(context, head);
  // After a disconnect a platform may stop work that it does not wait for; then memory would stay reserved.
  onAbort(request.signal, () => runtime.waitUntil(responding));
  const response = await responding;
  const end = () => {
    const { status } = response;
    // A WebSocket keeps its request's memory reservation and ends it itself.
    if (status !== 101) reservation.end();
    record(status);
  };
  const answering = getSending();
  if (answering === null) end();
  else runtime.waitUntil(answering.then(end));
  // The runtime creates the WebSocket handshake.
  if (response.status === 101) return response;
  return completeResponse(response, head, context, config.latest?.config ?? null);
}
