import { authorizeAndServe } from "./access.ts";
import { rejectForeignPage } from "./core/auth/development-keys.ts";
import { RequestConfig } from "./core/config/request-config.ts";
import type { Config } from "./core/config/schema.ts";
import type { ConfigSnapshot } from "./core/config/snapshot.ts";
import { oncePer } from "./core/encoding/once-per.ts";
import { type GatewayError, invalidRequest, toGatewayError } from "./core/errors/gateway-error.ts";
import { ProviderError } from "./core/errors/provider-error.ts";
import { onDisconnect } from "./core/http/client-disconnect.ts";
import { MemoryBudget } from "./core/http/memory-budget.ts";
import { RequestTimers } from "./core/http/request-timers.ts";
import type { Context, RequestRuntime } from "./core/ports/context.ts";
import type { Platform } from "./core/ports/platform.ts";
import type { RequestFacts, RequestOutcome } from "./core/ports/request-outcome.ts";
import { CorsPolicy } from "./core/routing/cors.ts";
import { errorResponse, STANDARD_FAMILY } from "./core/routing/error-formats.ts";
import { formatStandardLimitHeaders } from "./core/routing/limit-headers.ts";
import { findPathAlias } from "./core/routing/path-aliases.ts";
import { PathFamilies } from "./core/routing/route-group.ts";
import { RouteTable, routeNotFound } from "./core/routing/router.ts";
import { redirectToConsolePage, serveConsoleFile } from "./gateway/api/console-files.ts";
import { recordIfRefused } from "./gateway/history/record-if-refused.ts";
import { ModelNotFoundError } from "./gateway/models/model-not-found.ts";
import { settleUse } from "./pool/limits/limited-use.ts";
import { logRequest } from "./records/telemetry/log.ts";
import { recordRequest } from "./records/telemetry/record-request.ts";
import { findRequestCost, fromNano, listUnpricedParts } from "./records/usage/prices.ts";
import { ROUTE_GROUPS } from "./routes.ts";

/** The sample of the log that has every request. */
const ALL = 1;

const routeTable = new RouteTable(ROUTE_GROUPS);
const families = new PathFamilies(ROUTE_GROUPS, STANDARD_FAMILY);
const cors = new CorsPolicy(ROUTE_GROUPS);

/** The memory budget of this isolate or process. */
const getMemoryBudget = oncePer(({ variables }: Platform) => new MemoryBudget(variables.bodyBudgetBytes));

/** Properties of a request, read once, because each access to a native object costs time. */
interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

/** The last request URL: most requests use the same. */
let lastUrl: RequestAddress | undefined;

/** The parsed address of a request. */
interface RequestAddress {
  readonly text: string;
  /** Addresses of other vendors' clients are replaced by the gateway's own. */
  readonly url: URL;
  readonly path: string;
  /** The path that the client sent. */
  readonly requestedPath: string;
  /** The model that the path names. */
  readonly pathModel?: string;
}

/** Parses a request's URL. Several requests share the result, so it must not be modified. */
function parseRequestUrl(text: string): RequestAddress {
  if (lastUrl?.text === text) return lastUrl;
  const url = new URL(text);
  const requestedPath = url.pathname;
  const alias = findPathAlias(requestedPath);
  if (alias !== null) url.pathname = alias.path;
  const pathModel = alias?.model;
  lastUrl = {
    text,
    url,
    path: url.pathname,
    requestedPath,
    ...(pathModel === undefined ? {} : { pathModel }),
  };
  return lastUrl;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Valid values of `Host`: a name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** The last valid value: most requests send the same. */
let lastValidHost = "";

/**
 * Whether the `Host` header is valid. Runtimes build the request's URL from it without checking: a slash in the host would
 * change the path.
 */
function hasValidHost(headers: Headers): boolean {
  const host = headers.get("host");
  if (host === null || host === lastValidHost) return true;
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
  lastValidHost = host;
  return true;
}

/** The request id, which the caller may set, and an id that is unique. */
function createRequestIds(headers: Headers): { requestId: string; uniqueRequestId: string } {
  const requested = headers.get("x-request-id");
  const uniqueRequestId = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  return {
    requestId: requested !== null && REQUEST_ID.test(requested) ? requested : uniqueRequestId,
    uniqueRequestId,
  };
}

/**
 * Describes a failure for the log. Messages of parsers quote their input, and a provider's messages may quote the
 * conversation. For these errors, only the kind is logged.
 */
export function describeFailure(thrown: unknown): string {
  if (thrown instanceof ProviderError) return `ProviderError: ${thrown.kind} ${thrown.status}`;
  if (thrown instanceof SyntaxError) return thrown.name;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.slice(0, 500) : "not an error";
}

async function dispatch(context: Context, { method, path, headers }: RequestHead): Promise<Response> {
  const { request, url, facts, platform, refusal } = context;
  let family = families.familyOf(path);
  try {
    if (platform.variables.development && cors.isForOwnPages(path)) {
      await rejectForeignPage(context, cors.isFromOtherPage(request, url));
    }
    const consolePage = redirectToConsolePage(method, path, headers);
    if (consolePage !== null) return consolePage;
    const match = await routeTable.match(method, url, headers, path);
    if (match === null) {
      const page = await serveConsoleFile(request, url, (file) => platform.fetchAsset(file));
      if (page !== null) return page;
      throw routeNotFound(method, path);
    }
    const { route, params } = match;
    family = route.family;
    facts.route = route.path;
    const { model } = params;
    if (route.style !== undefined) refusal.style = route.style;
    if (model !== undefined) refusal.model = model;
    return await authorizeAndServe(route, context, params);
  } catch (thrown) {
    const error = await explainError(context, toGatewayError(thrown, context.requestId));
    // No route has this method, but the 405 of a known path names those that it has.
    if (method === "OPTIONS" && error.code === "method_not_allowed") {
      return new Response(null, { status: 204, headers: error.headers });
    }
    recordError(facts, error);
    if (facts.key !== undefined) refusal.message = error.message;
    return errorResponse(family, error, context.requestId);
  }
}

/** Notes the name of an unknown model, and adds near names to the error. Other errors stay as they are. */
async function explainError(
  { config, facts, platform, refusal }: Context,
  error: GatewayError,
): Promise<GatewayError> {
  if (!(error instanceof ModelNotFoundError)) return error;
  refusal.model = error.requested;
  const { explainUnknownModel } = await import("./gateway/models/explain-unknown-model.ts");
  // Comparing names is not done for strangers.
  const { allowsModel = facts.administrator === undefined ? null : () => true } = refusal;
  return explainUnknownModel(error, (await config()).config, platform.variables, allowsModel);
}

function recordError(facts: RequestFacts, error: GatewayError): void {
  facts.error = error.code;
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) facts.retryAfterSeconds = retryAfterSeconds;
  if (error.status >= 500 && error.cause instanceof Error) facts.cause = describeFailure(error.cause);
}

/**
 * Sets headers that describe how a generation was answered: the provider and the number of tried accounts where there was a
 * choice of providers, the path of the answer, the cost of a whole answer whose model has a price and what that cost leaves
 * out, the request members that were left out, and whether the answer came from the response cache.
 */
function setGenerationHeaders(headers: Headers, facts: RequestFacts, config: Config | null): void {
  const cost = findKnownCost(facts, config);
  const unpriced = cost === null || config === null ? [] : listUnpricedParts(config, facts);
  const { provider, attempts = 0, answerPath, droppedParams, cache } = facts;
  const described: Record<string, string> = {
    ...(provider === undefined
      ? {}
      : { "x-gateway-provider": provider, "x-gateway-attempts": String(attempts) }),
    ...(answerPath === undefined ? {} : { "x-gateway-path": answerPath }),
    ...(cost === null ? {} : { "x-gateway-cost": String(fromNano(cost)) }),
    ...(unpriced.length === 0 ? {} : { "x-gateway-cost-without": unpriced.join() }),
    ...(droppedParams === undefined ? {} : { "x-gateway-dropped-params": droppedParams }),
    ...(cache === undefined ? {} : { "x-gateway-cache": cache }),
  };
  for (const [name, value] of Object.entries(described)) headers.set(name, value);
  const exposedHeaders = headers.get("access-control-expose-headers");
  if (exposedHeaders === null) return;
  const names = [exposedHeaders, ...Object.keys(described), ...(cache === "hit" ? ["age"] : [])];
  headers.set("access-control-expose-headers", names.join(", "));
}

/** The cost of a whole answer; null for a stream, whose headers are sent before its cost is known, and without a price. */
function findKnownCost(facts: RequestFacts, config: Config | null): number | null {
  const isKnown = config !== null && facts.promptTokens !== undefined && facts.stream !== true;
  return isKnown ? findRequestCost(config, facts) : null;
}

/** Removes the provider's own rate limits: the caller's key has limits of its own. */
function removeProviderLimits(headers: Headers): void {
  for (const name of [...headers.keys()]) if (name.includes("ratelimit")) headers.delete(name);
}

function completeResponse(
  response: Response,
  { method, path, headers: requestHeaders }: RequestHead,
  { requestId, requestLimits, platform, facts }: Context,
  config: Config | null,
): Response {
  const { requestIdHeader, limitHeaders = formatStandardLimitHeaders } = families.familyOf(path);
  const applies = cors.appliesTo(path);
  const origin = applies ? requestHeaders.get("origin") : null;
  const complete = (headers: Headers) => {
    headers.set("x-request-id", requestId);
    if (requestIdHeader !== undefined) headers.set(requestIdHeader, requestId);
    if (requestLimits.remaining !== undefined) {
      removeProviderLimits(headers);
      for (const [name, value] of Object.entries(limitHeaders(requestLimits.remaining, platform.now()))) {
        headers.set(name, value);
      }
    }
    if (applies) cors.setHeaders(headers, origin);
    const { provider, answerPath, cache, operation } = facts;
    if ((provider ?? answerPath ?? cache) !== undefined || operation === "embeddings") {
      setGenerationHeaders(headers, facts, config);
    }
    return headers;
  };
  if (method !== "HEAD") {
    try {
      complete(response.headers);
      return response;
    } catch {
      // Responses of the asset store and of `fetch` have immutable headers.
    }
  }
  const body = method === "HEAD" ? null : response.body;
  const headers = complete(new Headers(response.headers));
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
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
  logRequest(outcome, snapshot?.config.log.sample ?? ALL);
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
    logRequest(describeEnd("", error.status), ALL);
    return errorResponse(STANDARD_FAMILY, error, requestId);
  }
  const { url, path, requestedPath, pathModel } = parseRequestUrl(request.url);
  const head: RequestHead = { method, path, headers };
  if (method === "OPTIONS" && cors.appliesTo(path)) return cors.preflight(request);
  const reservation = getMemoryBudget(platform).createReservation();
  const timers = new RequestTimers();
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
    refusal: {},
    ...(trace === null ? {} : { trace }),
    ...(runtime.connection === undefined ? {} : { connection: runtime.connection }),
    recordOutcome: record,
    keepUntil: (sent) => {
      sending = sent;
    },
    serveRequest: (inner, connection) =>
      handleRequest(inner, connection === undefined ? runtime : { ...runtime, connection }),
    memory: reservation,
    timers,
    config: () => config.read(),
    lookUpConfig: (name) => config.lookUp(name),
    ensureConfigVersion: (version) => config.ensureVersion(version),
  };
  const responding = dispatch(context, head);
  // After a disconnect a platform may stop work that it does not wait for; then memory would stay reserved.
  onDisconnect(request, () => runtime.waitUntil(responding));
  const response = await responding;
  const end = () => {
    const { status } = response;
    // A WebSocket keeps its request's memory reservation and ends it itself.
    if (status !== 101) reservation.end();
    timers.end();
    record(status);
  };
  const answering = getSending();
  if (answering === null) end();
  else runtime.waitUntil(answering.then(end));
  // The runtime creates the WebSocket handshake.
  if (response.status === 101) return response;
  return completeResponse(response, head, context, config.latest?.config ?? null);
}
