import { serveConsole } from "./api/console-files.ts";
import { authenticateAdmin } from "./auth/administrators.ts";
import type { ConfigSnapshot } from "./config/snapshot.ts";
import { GatewayError, type RouteFamily, routeNotFound, toGatewayError } from "./errors/gateway-error.ts";
import { ProviderError } from "./errors/provider-error.ts";
import type { Context, LogFields, RequestRuntime } from "./platform/context.ts";
import { providerOf } from "./provider/of-platform.ts";
import { ROUTES } from "./routes.ts";
import { corsApplies, preflight, setCorsHeaders } from "./routing/cors.ts";
import { errorResponse } from "./routing/error-formats.ts";
import { familyOfPath, RouteTable } from "./routing/router.ts";
import { logRequest } from "./telemetry/log.ts";
import { recordRequest } from "./telemetry/record-request.ts";

const table = new RouteTable(ROUTES);
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The caller's own request id if it sent a usable one. */
function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && REQUEST_ID.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** What lies behind a 5xx, for the log. A provider's own words may quote the conversation, so only its kind is told. */
function causeOf(cause: Error): string {
  if (cause instanceof ProviderError) return `ProviderError: ${cause.kind} ${cause.status}`;
  return `${cause.name}: ${cause.message}`.slice(0, 500);
}

async function dispatch(request: Request, base: Omit<Context, "params" | "family">): Promise<Response> {
  const { url } = base;
  let family: RouteFamily = familyOfPath(url.pathname);
  try {
    const match = await table.match(request.method, url);
    if (match === null) {
      const page = await serveConsole(request, url, (file) => base.platform.asset(file));
      if (page !== null) return page;
      throw routeNotFound(request.method, url.pathname);
    }
    const { route, params } = match;
    family = route.family;
    base.log.route = route.path;
    const context: Context = { ...base, params, family };
    if (route.access === "admin" || route.access === "jwt") await authenticateAdmin(context, route.access);
    return await route.handler(context);
  } catch (thrown) {
    const error = toGatewayError(thrown, base.requestId);
    base.log.error = error.code;
    if (error.status >= 500 && error.cause instanceof Error) {
      base.log.cause = causeOf(error.cause);
    }
    return errorResponse(family, error);
  }
}

function finish(response: Response, request: Request, path: string, requestId: string): Response {
  const cors = corsApplies(path);
  const origin = cors ? request.headers.get("origin") : null;
  const complete = (headers: Headers) => {
    headers.set("x-request-id", requestId);
    if (cors) setCorsHeaders(headers, origin);
    return headers;
  };
  if (request.method !== "HEAD") {
    try {
      complete(response.headers);
      return response;
    } catch {
      // Answers of the asset store and of `fetch` have immutable headers.
    }
  }
  const body = request.method === "HEAD" ? null : response.body;
  const headers = complete(new Headers(response.headers));
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

/**
 * Answers one request: the program's single entry, whatever the runtime. Never throws; what goes wrong is rendered in
 * the shape of the route's family.
 */
export async function handle(request: Request, runtime: RequestRuntime): Promise<Response> {
  const { platform } = runtime;
  const startedAt = platform.now();
  const url = new URL(request.url);
  const path = url.pathname;
  if (request.method === "OPTIONS" && corsApplies(path)) return preflight(request);
  const requestId = requestIdOf(request);
  const log: LogFields = {};
  let config: Promise<ConfigSnapshot> | undefined;
  const response = await dispatch(request, {
    platform,
    clientAddress: runtime.clientAddress,
    waitUntil: (work) => runtime.waitUntil(work),
    request,
    url,
    requestId,
    startedAt,
    log,
    config: () => {
      config ??= platform.configuration.read();
      return config;
    },
    provider: () => {
      const provider = providerOf(platform);
      if (provider !== null) return provider;
      throw new GatewayError(503, "no provider is configured: set PROVIDER_BASE_URL", {
        code: "upstream_unavailable",
      });
    },
  });
  const line = () => {
    const { status } = response;
    const durationMs = platform.now() - startedAt;
    logRequest(request, path, status, requestId, durationMs, log);
    const counted = recordRequest(platform, { method: request.method, status, durationMs, fields: log });
    if (counted !== null) runtime.waitUntil(counted);
  };
  if (log.streaming === undefined) line();
  else runtime.waitUntil(log.streaming.then(line));
  return finish(response, request, path, requestId);
}
