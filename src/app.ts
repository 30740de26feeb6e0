import { serve } from "./access.ts";
import { serveConsole } from "./api/console-files.ts";
import { protectAdminKey } from "./auth/development-keys.ts";
import { RequestConfig } from "./config/request-config.ts";
import { type GatewayError, invalidRequest, toGatewayError } from "./errors/gateway-error.ts";
import { ProviderError } from "./errors/provider-error.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { onDeparture } from "./http/departure.ts";
import { RequestTimers } from "./http/request-timers.ts";
import { settleUse } from "./limits/quota.ts";
import type { Context, LogFields, RequestRuntime } from "./platform/context.ts";
import type { Platform } from "./platform/platform.ts";
import { SURFACES } from "./routes.ts";
import { CorsPolicy } from "./routing/cors.ts";
import { errorResponse, STANDARD_FAMILY } from "./routing/error-formats.ts";
import { standardLimitHeaders } from "./routing/limit-headers.ts";
import { RouteTable, routeNotFound } from "./routing/router.ts";
import { PathFamilies } from "./routing/surface.ts";
import { logRequest } from "./telemetry/log.ts";
import { recordRequest } from "./telemetry/record-request.ts";

const table = new RouteTable(SURFACES);
const families = new PathFamilies(SURFACES, STANDARD_FAMILY);
const cors = new CorsPolicy(SURFACES);

const budgets = new WeakMap<Platform, BodyBudget>();

/** The memory budget of this isolate or process. */
function budgetOf(platform: Platform): BodyBudget {
  let budget = budgets.get(platform);
  if (budget === undefined) {
    budget = new BodyBudget(platform.variables.bodyBudgetBytes);
    budgets.set(platform, budget);
  }
  return budget;
}

/** Properties of a request, read once, because each access to a native object costs time. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

/** The last request URL: most requests use the same. */
let latest: { readonly text: string; readonly url: URL; readonly path: string } | undefined;

/** Parses a request's URL. Several requests share the result, so it must not be modified. */
function addressOf(text: string): NonNullable<typeof latest> {
  if (latest?.text === text) return latest;
  const url = new URL(text);
  latest = { text, url, path: url.pathname };
  return latest;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Valid values of `Host`: a name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** The last valid value: most requests send the same. */
let properHost = "";

/**
 * Whether the `Host` header is valid. Runtimes build the request's URL from it without checking: a slash in the host would
 * change the path.
 */
function hasProperHost(headers: Headers): boolean {
  const host = headers.get("host");
  if (host === null || host === properHost) return true;
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
  properHost = host;
  return true;
}

/** The request id, which the caller may set, and an identity that is unique. */
function idsOf(headers: Headers): { requestId: string; identity: string } {
  const given = headers.get("x-request-id");
  const identity = `req_${crypto.randomUUID().replaceAll("-", "")}`;
  return { requestId: given !== null && REQUEST_ID.test(given) ? given : identity, identity };
}

/**
 * Describes a failure for the log. Messages of parsers quote their input, and a provider's messages may quote the
 * conversation: of those, only the kind is logged.
 */
export function failureForLog(thrown: unknown): string {
  if (thrown instanceof ProviderError) return `ProviderError: ${thrown.kind} ${thrown.status}`;
  if (thrown instanceof SyntaxError) return thrown.name;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.slice(0, 500) : "not an error";
}

async function dispatch(context: Context, { method, path, headers }: Asked): Promise<Response> {
  const { request, url, log, platform } = context;
  let family = families.of(path);
  try {
    if (platform.variables.development && cors.isForOwnPages(path)) {
      await protectAdminKey(context, cors.isFromOtherPage(request, url));
    }
    const match = await table.match(method, url, headers, path);
    if (match === null) {
      const page = await serveConsole(request, url, (file) => platform.asset(file));
      if (page !== null) return page;
      throw routeNotFound(method, path);
    }
    const { route, params } = match;
    family = route.family;
    log.route = route.path;
    return await serve(route, context, params);
  } catch (thrown) {
    const error = toGatewayError(thrown, context.requestId);
    noteError(log, error);
    return errorResponse(family, error, context.requestId);
  }
}

function noteError(log: LogFields, error: GatewayError): void {
  log.error = error.code;
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds !== undefined) log.retryAfterSeconds = retryAfterSeconds;
  if (error.status >= 500 && error.cause instanceof Error) log.cause = failureForLog(error.cause);
}

/** Sets headers with the provider and the number of tried accounts. Used only where there was a choice of providers. */
function tellProvider(headers: Headers, provider: string, attempts: number): void {
  headers.set("x-gateway-provider", provider);
  headers.set("x-gateway-attempts", String(attempts));
  const exposed = headers.get("access-control-expose-headers");
  if (exposed === null) return;
  headers.set("access-control-expose-headers", `${exposed}, x-gateway-provider, x-gateway-attempts`);
}

function finish(
  response: Response,
  { method, path, headers: given }: Asked,
  { requestId, quota, platform, log }: Context,
): Response {
  const { requestIdHeader, limitHeaders = standardLimitHeaders } = families.of(path);
  const applies = cors.applies(path);
  const origin = applies ? given.get("origin") : null;
  const complete = (headers: Headers) => {
    headers.set("x-request-id", requestId);
    if (requestIdHeader !== undefined) headers.set(requestIdHeader, requestId);
    if (quota.left !== undefined) {
      for (const [name, value] of Object.entries(limitHeaders(quota.left, platform.now()))) {
        headers.set(name, value);
      }
    }
    if (applies) cors.setHeaders(headers, origin);
    if (log.provider !== undefined) tellProvider(headers, log.provider, log.attempts ?? 0);
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
 * Handles a request: the program's only entry point, on every runtime. Never throws; errors are formatted for the route's
 * family.
 */
export async function handle(request: Request, runtime: RequestRuntime): Promise<Response> {
  const { platform } = runtime;
  const startedAt = platform.now();
  const { method, headers } = request;
  const { requestId, identity } = idsOf(headers);
  const log: LogFields = {};
  if (!hasProperHost(headers)) {
    const error = invalidRequest("the header Host is no host");
    noteError(log, error);
    logRequest(method, "", error.status, requestId, 0, log);
    return errorResponse(STANDARD_FAMILY, error, requestId);
  }
  const { url, path } = addressOf(request.url);
  const asked: Asked = { method, path, headers };
  if (method === "OPTIONS" && cors.applies(path)) return cors.preflight(request);
  const hold = budgetOf(platform).hold();
  const timers = new RequestTimers();
  const config = new RequestConfig(platform.configuration);
  let recorded = false;
  const record = (status: number) => {
    if (recorded) return;
    recorded = true;
    const durationMs = platform.now() - startedAt;
    const { latest } = config;
    const counted = recordRequest(platform, { method, status, durationMs, fields: log }, latest);
    if (counted !== null) runtime.waitUntil(counted);
    // A request whose limits were counted has read the configuration.
    const settled = latest === null ? null : settleUse(platform, context.quota, log, latest.config);
    if (settled !== null) runtime.waitUntil(settled);
    logRequest(method, path, status, requestId, durationMs, log);
  };
  const context: Context = {
    platform,
    clientAddress: runtime.clientAddress,
    waitUntil: (work) => runtime.waitUntil(work),
    request,
    url,
    requestId,
    identity,
    startedAt,
    log,
    quota: {},
    ...(runtime.connection === undefined ? {} : { connection: runtime.connection }),
    record,
    serve: (inner, connection) => handle(inner, { ...runtime, connection }),
    hold,
    timers,
    config: () => config.read(),
    allowConfigCopy: () => config.allowCopy(),
    confirmConfig: (version) => config.confirm(version),
  };
  const answering = dispatch(context, asked);
  // After a disconnect a platform may stop work that it does not wait for; then memory would stay reserved.
  onDeparture(request, () => runtime.waitUntil(answering));
  const response = await answering;
  const ended = () => {
    const { status } = response;
    // A WebSocket keeps its request's memory reservation and ends it itself.
    if (status !== 101) hold.end();
    timers.end();
    record(status);
  };
  if (log.streaming === undefined) ended();
  else runtime.waitUntil(log.streaming.then(ended));
  // The runtime creates the WebSocket handshake.
  if (response.status === 101) return response;
  return finish(response, asked, context);
}
